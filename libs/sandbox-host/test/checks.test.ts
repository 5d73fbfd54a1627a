import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ANNA, ciToken, createSandboxEnvironment, type SandboxEnvironment } from '@pipeline/testing/sandbox';
import { startHooks } from './support/hooks.ts';

/*
 * Words and rules are those of GitHub's REST documentation, "Commit statuses", "Check runs" and "Check suites", and of
 * "Webhook events and payloads".
 */

let environment: SandboxEnvironment;
let hooks: Awaited<ReturnType<typeof startHooks>>;
let ci: string;
let serial = 0;
beforeAll(async () => {
  environment = await createSandboxEnvironment();
  hooks = await startHooks(environment);
  ci = await ciToken(environment);
});
afterAll(async () => {
  await environment.end();
  await hooks.stop();
});

const AT = '/repos/acme/shop';
// biome-ignore lint/suspicious/noExplicitAny: answers of every shape are looked into.
type Answer = { status: number; data: any };
const call = (method: string, path: string, body?: unknown, token?: string): Promise<Answer> =>
  environment.api(method, `${AT}${path}`, body, token);
let sha: string;
let branch: string;
beforeEach(async () => {
  serial += 1;
  branch = `checked-${serial}`;
  sha = await environment.push(branch, `${branch}.txt`, 'x\n');
  await call('POST', '/pulls', { title: 'A change', head: branch, base: 'main' });
  await hooks.take();
});

describe('commit statuses', () => {
  test('combines the newest status of each context: failure before pending before success', async () => {
    const set = (context: string, state: string) => call('POST', `/statuses/${sha}`, { context, state });
    expect((await call('GET', `/commits/${sha}/status`)).data).toMatchObject({ state: 'pending', total_count: 0 });
    await set('build', 'failure');
    await set('build', 'success');
    expect((await call('GET', `/commits/${sha}/status`)).data).toMatchObject({ state: 'success', total_count: 1 });
    await set('lint', 'pending');
    expect((await call('GET', `/commits/${branch}/status`)).data.state).toBe('pending');
    await set('test', 'error');
    const combined = (await call('GET', `/commits/${sha}/status`)).data;
    expect(combined).toMatchObject({ state: 'failure', sha });
    expect(combined.statuses.map(({ context, state }: { context: string; state: string }) => [context, state])).toEqual(
      [
        ['build', 'success'],
        ['lint', 'pending'],
        ['test', 'error'],
      ],
    );
    expect((await call('GET', `/commits/${sha}/statuses`)).data).toHaveLength(4);
  });

  test('sends the webhook status when a status is created', async () => {
    await call('POST', `/statuses/${sha}`, { context: 'build', state: 'success', description: 'fine' });
    expect(await hooks.take()).toEqual([
      [
        'status',
        expect.objectContaining({
          sha,
          context: 'build',
          state: 'success',
          description: 'fine',
          name: 'acme/shop',
          branches: [expect.objectContaining({ name: branch })],
        }),
      ],
    ]);
  });

  test('answers 422 when the commit is unknown or the description is too long', async () => {
    const unknown = '0'.repeat(40);
    expect(await call('POST', `/statuses/${unknown}`, { state: 'success' })).toMatchObject({
      status: 422,
      data: { message: `No commit found for SHA: ${unknown}` },
    });
    const long = await call('POST', `/statuses/${sha}`, { state: 'success', description: 'x'.repeat(141) });
    expect(long).toMatchObject({ status: 422, data: { message: 'Validation Failed' } });
  });
});

describe('check runs', () => {
  const create = (body: object, token = ci) => call('POST', '/check-runs', { head_sha: sha, ...body }, token);

  test('answers 403 when a user who is not an app creates one', async () => {
    expect(await create({ name: 'build' }, ANNA.token)).toMatchObject({
      status: 403,
      data: { message: 'You must authenticate via a GitHub App.' },
    });
  });

  test('goes from queued to completed, with webhooks for the run and its suite', async () => {
    const { data: run } = await create({ name: 'build' });
    expect(run).toMatchObject({ status: 'queued', conclusion: null, completed_at: null, app: { slug: 'ci' } });
    expect(run.pull_requests).toEqual([expect.objectContaining({ head: expect.objectContaining({ sha }) })]);
    const { data: other } = await create({ name: 'lint', status: 'in_progress' });
    expect(other.check_suite).toEqual(run.check_suite);
    await call('PATCH', `/check-runs/${run.id}`, { conclusion: 'success' }, ci);
    await call('PATCH', `/check-runs/${other.id}`, { status: 'completed', conclusion: 'failure' }, ci);
    const sent = (await hooks.take()).map(([event, payload]) => [
      event,
      payload.action,
      payload.check_run?.conclusion ?? payload.check_suite?.conclusion ?? null,
    ]);
    expect(sent).toEqual([
      ['check_run', 'created', null],
      ['check_run', 'created', null],
      ['check_run', 'completed', 'success'],
      ['check_run', 'completed', 'failure'],
      ['check_suite', 'completed', 'failure'],
    ]);
    const { data: suites } = await call('GET', `/commits/${sha}/check-suites`);
    expect(suites).toMatchObject({ total_count: 1, check_suites: [{ conclusion: 'failure', status: 'completed' }] });
  });

  test('lists the newest run of each name unless filter=all', async () => {
    await create({ name: 'build', conclusion: 'failure' });
    await create({ name: 'build', conclusion: 'success' });
    const { data } = await call('GET', `/commits/${sha}/check-runs`);
    expect(data).toMatchObject({ total_count: 1, check_runs: [{ conclusion: 'success' }] });
    expect((await call('GET', `/commits/${sha}/check-runs?filter=all`)).data.total_count).toBe(2);
    expect((await call('GET', `/commits/${sha}/check-runs?check_name=lint`)).data.total_count).toBe(0);
  });

  test('answers 422 when a run is completed without a conclusion', async () => {
    expect((await create({ name: 'build', status: 'completed' })).status).toBe(422);
  });

  test('answers 403 when the token lacks the permission checks', async () => {
    const app = await environment.api('GET', `${AT}/commits/${sha}/check-runs`, undefined, ci);
    expect(app.status).toBe(200);
    const refused = await environment.api('POST', `${AT}/issues`, { title: 'x' }, ci);
    expect(refused).toMatchObject({ status: 403, data: { message: 'Resource not accessible by integration' } });
  });
});

describe('the host’s own CI', () => {
  const withCi = (outcome: string) =>
    environment.sandbox.addRepo({
      slug: 'acme/shop',
      collaborators: { 'pipeline-bot': 'write', anna: 'write' },
      ci: [{ name: 'tests', outcome: outcome as 'success', log: 'expected 1, got 2\n' }],
    });
  const run = async (commit: string) => {
    for (;;) {
      const [found] = (await call('GET', `/commits/${commit}/check-runs?check_name=tests`)).data.check_runs;
      if (found?.status === 'completed') return found;
      await environment.sandbox.flushWebhooks();
    }
  };

  test('runs its jobs on each head of a pull request and keeps their logs', async () => {
    await withCi('first-fails');
    const first = await environment.push(branch, `${branch}-2.txt`, 'y\n');
    const failed = await run(first);
    expect(failed).toMatchObject({ conclusion: 'failure', app: { slug: 'github-actions' } });
    const redirected = await fetch(`${environment.sandbox.url}${AT}/actions/jobs/${failed.id}/logs`, {
      headers: { authorization: `Bearer ${ANNA.token}` },
      redirect: 'manual',
    });
    expect(redirected.status).toBe(302);
    expect(await (await fetch(redirected.headers.get('location') ?? '')).text()).toBe('expected 1, got 2\n');
    const second = await environment.push(branch, `${branch}-3.txt`, 'z\n');
    expect(await run(second)).toMatchObject({ conclusion: 'success' });
  });

  test('passes on another attempt of the same head when the job is flaky', async () => {
    await withCi('flaky');
    const head = await environment.push(branch, `${branch}-2.txt`, 'y\n');
    const failed = await run(head);
    expect(failed.conclusion).toBe('failure');
    expect((await call('POST', `/check-runs/${failed.id}/rerequest`, {})).status).toBe(201);
    expect(await run(head)).toMatchObject({ id: failed.id, conclusion: 'success' });
  });
});
