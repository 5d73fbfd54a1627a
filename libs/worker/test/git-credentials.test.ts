import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { refusal } from './fake-service.ts';
import { WorkerBench } from './worker-bench.ts';

let bench: WorkerBench;
beforeEach(async () => {
  bench = await WorkerBench.open();
});
afterEach(() => bench.close());

const TOKEN = 'ghs_short-lived';
const CLONE_URL = 'https://host.test/acme/widgets.git';

function grant(): void {
  const body = {
    repo: 'acme/widgets',
    cloneUrl: CLONE_URL,
    username: 'x-access-token',
    token: TOKEN,
    expiresAt: '2026-01-01T01:00:00.000Z',
    permissions: { contents: 'write' },
  };
  bench.service.on('issueTaskCredentials', () => ({ status: 200, body }));
}

/** A command that asks git for the password at an address, and keeps its output in a file of the bench. */
const ask = (url: string, file: string) => {
  const { protocol, host, pathname } = new URL(url);
  const question = `protocol=${protocol.slice(0, -1)}\\nhost=${host}\\npath=${pathname.slice(1)}\\n\\n`;
  return `printf '${question}' | git credential fill > ${bench.dir}/${file} 2>&1; true`;
};

const QUIET = { GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', GIT_ASKPASS: '' };

async function runProgram(command: string, env: Record<string, string> = {}, gitCredentials = true): Promise<void> {
  bench.service.add('analyze');
  bench.exec(command, { env: { ...QUIET, ...env }, gitCredentials });
  await bench.service.call('completeTask');
}

describe('git in the program', () => {
  test('authenticates at the address of the repo, with or without .git', async () => {
    grant();
    const bare = CLONE_URL.replace('.git', '');
    await runProgram(`${ask(CLONE_URL, 'with')}; ${ask(bare, 'without')}`);
    const answer = `username=x-access-token\npassword=${TOKEN}\n`;
    expect(await bench.read('with')).toContain(answer);
    expect(await bench.read('without')).toContain(answer);
    expect(bench.service.of('issueTaskCredentials')).toHaveLength(1);
  });

  test.each([
    ['another repo', 'https://host.test/acme/other.git'],
    ['another host', 'https://elsewhere.test/acme/widgets.git'],
  ])('does not take the token to %s, and sends no request', async (_what, url) => {
    grant();
    await runProgram(ask(url, 'elsewhere'));
    expect(await bench.read('elsewhere')).not.toContain(TOKEN);
    expect(await bench.read('elsewhere')).toContain('terminal prompts disabled');
  });

  test('keeps the configuration that the machine gives it, but asks no other helper about this repo', async () => {
    grant();
    const mine = `!echo username=mine; echo password=wide; :`;
    await runProgram(
      `${ask(CLONE_URL, 'here')}; ${ask('https://host.test/acme/other', 'there')}; git config a.b > ${bench.dir}/kept`,
      {
        GIT_CONFIG_COUNT: '2',
        GIT_CONFIG_KEY_0: 'credential.helper',
        GIT_CONFIG_VALUE_0: mine,
        GIT_CONFIG_KEY_1: 'a.b',
        GIT_CONFIG_VALUE_1: 'c',
      },
    );
    expect(await bench.read('here')).toContain(`password=${TOKEN}`);
    expect(await bench.read('there')).toContain('password=wide');
    expect(await bench.read('kept')).toBe('c\n');
  });

  test('git has the credentials of the machine where the service has none', async () => {
    await runProgram(`env > ${bench.dir}/env`);
    expect(await bench.read('env')).not.toContain('PIPELINE_GIT');
  });

  test('git has the credentials of the machine where no others are wanted', async () => {
    grant();
    await runProgram(`env > ${bench.dir}/env`, {}, false);
    expect(await bench.read('env')).not.toContain('PIPELINE_GIT');
    expect(bench.service.of('issueTaskCredentials')).toEqual([]);
  });
});

describe('the token', () => {
  test('no record of a program that prints the token contains it', async () => {
    grant();
    const line = JSON.stringify({ type: 'message', content: 'got $T' }).replace('$T', `'"$PIPELINE_GIT_TOKEN"'`);
    await runProgram(`echo $PIPELINE_GIT_TOKEN; echo '${line}'; echo "x $PIPELINE_GIT_TOKEN" >&2`);
    const sent = JSON.stringify(bench.service.calls.map((call) => call.body));
    expect(sent).not.toContain(TOKEN);
    expect(sent).toContain('got [redacted]');
    expect(sent).toContain('x [redacted]');
  });

  test('requests the token again while the host is away', async () => {
    bench.service.on('issueTaskCredentials', (_call, nth) => (nth < 2 ? refusal(503, 'HOST_UNAVAILABLE') : undefined));
    await runProgram('true');
    expect(bench.service.of('issueTaskCredentials')).toHaveLength(3);
  });

  test('the program does not start when the token is refused because the claim is lost', async () => {
    bench.service.on('issueTaskCredentials', () => refusal(409, 'CLAIM_LOST'));
    bench.service.add('analyze');
    bench.exec(`touch ${bench.dir}/started`);
    await bench.service.call('issueTaskCredentials');
    bench.service.add('analyze');
    await bench.service.call('startTask', (call) => call.taskId === 't-2');
    await expect(bench.read('started')).rejects.toThrow();
    expect([...bench.service.of('completeTask'), ...bench.service.of('failTask')]).toEqual([]);
  });
});
