import { execFileSync } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { WorkerBench } from './worker-bench.ts';

let bench: WorkerBench;
beforeEach(async () => {
  bench = await WorkerBench.open();
});
afterEach(() => bench.close());

/** A shell command that prints these lines. */
async function printing(...lines: (string | object)[]): Promise<string> {
  const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');
  return `cat ${await bench.script('lines', `${text}\n`)}`;
}

const APPROVED = { type: 'outcome', outcome: 'approved', result: { body: 'fine' } };

async function failed() {
  const { body } = await bench.service.call('failTask');
  return body as { errorMessage: string; errorClass: string; retryAfterMs?: number };
}

describe('what a program prints', () => {
  test('reaches the service: progress, messages, artefacts, findings, invocations, the outcome', async () => {
    const command = await printing(
      { type: 'progress', status: 'looking' },
      { type: 'message', content: 'hello' },
      { type: 'artefact', kind: 'report', title: 'R', body: 'text' },
      { type: 'finding', findingType: 'x', category: 'y', severity: 'low', title: 't', summary: 's' },
      { type: 'invocation', index: 0, model: 'm', provider: 'p', inputTokens: 1 },
      { type: 'invocation', index: 0, model: 'm', provider: 'p', inputTokens: 5, costUsd: 0.25 },
      APPROVED,
    );
    const task = bench.service.add('review');
    bench.exec(command);
    const { body, authorization } = await bench.service.call('completeTask');
    expect(authorization).toBe('Bearer wrk_at_secret');
    expect(body).toMatchObject({
      claimToken: task.claimToken,
      outcome: 'approved',
      result: { body: 'fine' },
      artefacts: [{ kind: 'report', mediaType: 'text/plain', title: 'R', body: 'text' }],
      findings: [{ findingType: 'x', severity: 'low' }],
      invocations: [{ index: 0, inputTokens: 5, costUsd: 0.25 }],
    });
    expect(bench.service.of('reportProgress')[0]?.body).toMatchObject({ status: 'looking' });
    const items = bench.service.of('recordMessages').flatMap((call) => call.body.items);
    expect(items).toMatchObject([{ agent: 'reviewer', role: 'assistant', content: 'hello', sequence: 0 }]);
    expect(bench.service.of('startTask')).toHaveLength(1);
  });

  test('the last verdict wins, over earlier ones and over the exit code', async () => {
    const first = { type: 'outcome', outcome: 'needs-human', result: { reason: 'hm' } };
    bench.service.add('review');
    bench.exec(`${await printing(first, { type: 'failure', errorMessage: 'no' }, APPROVED)}; exit 3`);
    expect((await bench.service.call('completeTask')).body.outcome).toBe('approved');
  });

  test('a failure can name its class and when to try again', async () => {
    bench.service.add('develop');
    const failure = { type: 'failure', errorMessage: 'later', errorClass: 'quota', retryAfterMs: 5_000 };
    bench.exec(await printing({ type: 'outcome', outcome: 'replan', result: { reason: 'x' } }, failure));
    expect(await failed()).toMatchObject({ errorMessage: 'later', errorClass: 'quota', retryAfterMs: 5_000 });
  });

  test('text, foreign JSON and stderr are kept as messages, and garbage does no harm', async () => {
    bench.service.add('analyze');
    const lines = await printing('plain', '{"half":', '{"type":"other"}', '[1]', '\u0000\u0007', {
      type: 'log',
      message: 'from the service',
    });
    bench.exec(`${lines}; printf '\\377\\376\\n'; echo oops >&2`);
    expect((await bench.service.call('completeTask')).body.outcome).toBe('analyzed');
    const items = bench.service.of('recordMessages').flatMap((call) => call.body.items);
    const contents = items.map((item: { content: string }) => item.content);
    expect(contents).toEqual(
      expect.arrayContaining([
        'plain',
        '{"half":',
        '{"type":"other"}',
        '[1]',
        '\u0000\u0007',
        'from the service',
        '\ufffd\ufffd',
        'oops',
      ]),
    );
    expect(items).toHaveLength(8);
  });

  test('reports a line of 3 MiB by its beginning and reads what follows', async () => {
    bench.service.add('review');
    bench.exec(`head -c 3145728 /dev/zero | tr '\\0' x; echo; ${await printing(APPROVED)}`);
    expect((await bench.service.call('completeTask')).body.outcome).toBe('approved');
    const [item] = bench.service.of('recordMessages').flatMap((call) => call.body.items);
    expect(item.content).toMatch(/^x{1000}… \(line of 3145728 bytes, not kept\)$/);
  });

  test('a flood of output is kept up to a bound', async () => {
    bench.service.add('analyze');
    bench.exec('seq 1 5000');
    await bench.service.call('completeTask');
    const items = bench.service.of('recordMessages').flatMap((call) => call.body.items);
    expect(items).toHaveLength(2_001);
    expect(items.at(-1).content).toContain('not kept');
  });

  test('a verdict that cannot be read is a failure, not a default outcome', async () => {
    bench.service.add('analyze');
    bench.exec(await printing({ type: 'outcome', outcome: 'analysed' }));
    expect((await failed()).errorMessage).toContain('not valid');
  });

  test.each([
    [
      'an outcome of another task type',
      { type: 'outcome', outcome: 'planned' },
      /review cannot end as "planned".*approved/,
    ],
    [
      'a result without its fields',
      { type: 'outcome', outcome: 'needs-human' },
      /"needs-human" is not valid[\s\S]*reason/,
    ],
  ])('reports %s as what it is', async (_, record, message) => {
    bench.service.add('review');
    bench.exec(await printing(record));
    expect((await failed()).errorMessage).toMatch(message);
  });

  test('goes to the log of its agent where a folder is given', async () => {
    bench.service.add('review', { issueNumber: 12 });
    const { ended } = bench.exec(await printing('hello', APPROVED), { logDir: `${bench.dir}/logs`, once: true });
    await ended;
    const line = JSON.parse((await bench.read('logs/reviewer.log')).trim());
    expect(line).toMatchObject({ level: 'info', msg: 'hello', agent: 'reviewer', issue: 12, repo: 'acme/widgets' });
  });
});

describe('exit codes without a verdict', () => {
  test('75 is a quota', async () => {
    bench.service.add('develop');
    bench.exec('echo limit reached >&2; exit 75');
    expect(await failed()).toMatchObject({ errorClass: 'quota', errorMessage: 'limit reached' });
  });

  test('any other is transient, with the last lines of stderr', async () => {
    bench.service.add('develop');
    bench.exec('seq 1 30 >&2; exit 3');
    expect(await failed()).toMatchObject({
      errorClass: 'transient',
      errorMessage: Array.from({ length: 20 }, (_, index) => index + 11).join('\n'),
    });
  });

  test('reports a program that cannot be found', async () => {
    bench.service.add('develop');
    bench.exec('no-such-program-here');
    expect((await failed()).errorMessage).toMatch(/not found/);
  });

  test('a review has to print its verdict', async () => {
    bench.service.add('review');
    bench.exec('true');
    expect(await failed()).toMatchObject({
      errorClass: 'transient',
      errorMessage: expect.stringMatching(
        /review task must print an outcome.*approved, changes-requested, needs-human/,
      ),
    });
  });

  test("0 is the task's default outcome: text is a plan, the head of the pull request is what to merge", async () => {
    bench.service.add('plan');
    bench.exec('echo do this; echo then that', { once: true });
    expect((await bench.service.call('completeTask')).body).toMatchObject({
      outcome: 'planned',
      result: { plan: 'do this\nthen that', plannedFiles: [] },
    });
    const { payload } = bench.service.add('merge');
    payload.pr = { number: 1, url: '', headSha: 'abcdef1', headRef: 'x', title: '', body: '' };
    bench.exec('true');
    const merged = await bench.service.call('completeTask', (call) => call.body.outcome === 'mergeable');
    expect(merged.body.result).toEqual({ headSha: 'abcdef1' });
  });

  test('a program that takes too long is ended', async () => {
    bench.service.add('develop');
    bench.exec('echo begun >&2; exec sleep 600', { taskTimeoutMs: 100 });
    expect(await failed()).toMatchObject({ errorClass: 'transient', errorMessage: expect.stringContaining('100 ms') });
  });
});

describe('a submission without a word', () => {
  const SETUP = [
    'set -e; git init -q --bare -b main ../host.git; git init -q -b main .; git config user.name n',
    'git config user.email e@example.org; git remote add origin ../host.git',
    'echo 1 > a; git add .; git commit -q -m first; git push -q origin main; git checkout -q -b svc/issue-7',
    'echo 2 > b; git add .; git commit -q -m "Add b" -m "Why not."',
  ].join('; ');

  test('the submission is the pushed branch in the work dir', async () => {
    bench.service.add('develop');
    bench.exec(`${SETUP}; git push -q origin svc/issue-7`);
    const { body } = await bench.service.call('completeTask');
    const headSha = execFileSync('git', ['rev-parse', 'svc/issue-7'], {
      cwd: `${bench.dir}/host.git`,
      encoding: 'utf8',
    }).trim();
    const expected = {
      branch: 'svc/issue-7',
      headSha,
      title: 'Add b',
      body: 'Why not.\n\nRefs #7',
      changedFiles: ['b'],
    };
    expect(body).toMatchObject({ outcome: 'submitted', result: expected });
  });

  test.each([
    ['not pushed', SETUP, /svc\/issue-7 is not pushed/],
    ['on the default branch', `${SETUP}; git checkout -q main`, /on main, not on svc\/issue-7/],
    ['without a change', `${SETUP}; git reset -q --hard main; git push -q origin svc/issue-7`, /changes nothing/],
    ['not in git', 'true', /no branch checked out/],
  ])('%s it is a failure that reports it', async (_, command, message) => {
    bench.service.add('develop');
    bench.exec(command);
    expect((await failed()).errorMessage).toMatch(message);
  });
});

test('gives the program its task but never the tokens', async () => {
  const task = bench.service.add('analyze');
  const { ended } = bench.exec(`cat > ../stdin; env > ../env; pwd > ../pwd`, { once: true });
  await ended;
  const given = JSON.parse(await bench.read('stdin'));
  expect(given).toMatchObject({ id: task.id, taskType: 'analyze', payload: { issue: { number: 7 } } });
  expect(given).not.toHaveProperty('claimToken');
  const env = await bench.read('env');
  expect(env).not.toContain('wrk_at_');
  expect(env).toContain(`PIPELINE_TASK_ID=${task.id}`);
  expect(env).toContain('PIPELINE_BRANCH=svc/issue-7');
  expect(env).toMatch(/^PIPELINE_AGENT=$/m);
  expect(env).toContain(`PIPELINE_WORK_DIR=${(await bench.read('pwd')).trim()}`);
});
