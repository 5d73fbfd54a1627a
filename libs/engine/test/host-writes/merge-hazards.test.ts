/** Hazards of an approved pull request before its merge, on the sandbox host through the real adapter. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { DEFAULT_SETTINGS } from '@pipeline/domain';
import { testDatabase } from '@pipeline/testing';
import { ANNA, BOT, createSandboxEnvironment, type SandboxEnvironment, STRANGER } from '@pipeline/testing/sandbox';
import { until } from '@pipeline/testing/until';
import { applyHostIssue, type Bench, drain, finish, goodOutcome, hostIssue, makeBench, take } from '../harness.ts';
import { reportPull } from '../host-pulls.ts';
import { updateRepo } from '../repo-columns.ts';

const BRANCH = 'svc/issue-1';
const database = testDatabase();
let sandbox: SandboxEnvironment;
let bench: Bench;
let slug: string;
let serial = 0;

beforeAll(async () => {
  sandbox = await createSandboxEnvironment();
});
afterAll(() => sandbox.end());
beforeEach(() => {
  database.clock.now = new Date();
});

interface Pull {
  number: number;
  state: string;
  merged: boolean;
  head: { sha: string };
}
interface Run {
  id: number;
  conclusion: string | null;
}

async function api<T>(method: string, path: string, body?: unknown, token = ANNA.token): Promise<T> {
  const { status, data } = await sandbox.api(method, `/repos/${slug}${path}`, body, token);
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(data)}`);
  return data;
}

const send = () => drain({ engine: bench.engine, host: sandbox.host });
const issue = () =>
  database.db
    .selectFrom('issues')
    .select(['state', 'block_reason'])
    .where('repo_id', '=', bench.repo.id)
    .executeTakeFirstOrThrow();
const pull = (number: number) => api<Pull>('GET', `/pulls/${number}`);
const hostPull = async (number: number) => {
  const found = await sandbox.host.getPullRequest(bench.repo, number);
  if (!found) throw new Error(`no pull request ${number}`);
  return found;
};

/** Completes the next task, which must be of that type. */
async function work(type: 'analyze' | 'plan' | 'develop' | 'review' | 'merge', headSha = ''): Promise<void> {
  const task = await take(bench);
  expect(task.taskType).toBe(type);
  const outcome = goodOutcome(type, 1);
  if (outcome.outcome === 'submitted' || outcome.outcome === 'mergeable') outcome.result.headSha = headSha;
  await finish(bench, task, outcome);
}

/** Returns the finished check run of a head. */
async function finished(sha: string, conclusion: string): Promise<Run> {
  let run: Run | undefined;
  await until(`the check of ${sha} is ${conclusion}`, async () => {
    [run] = (await api<{ check_runs: Run[] }>('GET', `/commits/${sha}/check-runs`)).check_runs;
    return run?.conclusion === conclusion;
  });
  return run as Run;
}

/** A repo with one job, and an issue whose pull request is submitted. @returns the pull request. */
async function submitted(outcome: 'success' | 'flaky' | 'failure' | 'never'): Promise<Pull> {
  serial += 1;
  slug = `acme/hazard-${serial}`;
  await sandbox.sandbox.addRepo({
    slug,
    collaborators: { [BOT.login]: 'write', anna: 'write' },
    // The host reports whole seconds: two results of one run differ by their time.
    ci: [{ name: 'tests', outcome, seconds: outcome === 'failure' ? 1 : 0, log: 'expected 1, got 2\n' }],
  });
  bench = await makeBench(database.store, { slug, tenant: slug.replace('/', '-') });
  await updateRepo({ ...bench, database }, { checks_policy: 'required' });
  await api('POST', '/issues', { title: 'Issue 1' });
  await applyHostIssue(bench, hostIssue(1));
  await work('analyze');
  await work('plan');
  await work('develop', await sandbox.push(BRANCH, 'change.txt', 'changed\n', { repo: slug, token: BOT.token }));
  await send();
  const [found] = await api<Pull[]>('GET', '/pulls');
  if (!found) throw new Error('no pull request');
  return pull(found.number);
}

/** Approves the head and asks for its merge, which stays in the outbox. */
async function approve(sha: string): Promise<void> {
  await work('review');
  await send();
  await work('merge', sha);
}

async function forcePush(): Promise<string> {
  const folder = `${sandbox.dir}/force-${serial}`;
  const url = `${sandbox.sandbox.url.replace('//', `//x:${ANNA.token}@`)}/${slug}.git`;
  await sandbox.git(['clone', '-q', '-b', BRANCH, url, folder]);
  await sandbox.git(['commit', '-q', '--amend', '-m', 'Another change'], folder);
  await sandbox.git(['push', '-qf', 'origin', BRANCH], folder);
  return sandbox.git(['rev-parse', 'HEAD'], folder);
}

describe('a force-push after the approval', () => {
  test('the new head is not merged before its own review when the merge is sent before the push is reported', async () => {
    const { number, head } = await submitted('success');
    await approve(head.sha);
    await finished(head.sha, 'success');
    const pushed = await forcePush();
    await finished(pushed, 'success');
    await send();
    expect(await pull(number)).toMatchObject({ merged: false, head: { sha: pushed } });
    await reportPull(bench, 'synchronize', await hostPull(number), 'anna');
    expect((await issue()).state).toBe('in-review');
    await approve(pushed);
    await send();
    expect(await pull(number)).toMatchObject({ merged: true, head: { sha: pushed } });
    expect((await issue()).state).toBe('done');
  });
});

describe('a flaky check', () => {
  test('holds up no merge when it was run again and is green', async () => {
    const { number, head } = await submitted('flaky');
    await approve(head.sha);
    const { id } = await finished(head.sha, 'failure');
    await api('POST', `/check-runs/${id}/rerequest`, {}, BOT.token);
    await finished(head.sha, 'success');
    await send();
    expect(await pull(number)).toMatchObject({ merged: true, head: { sha: head.sha } });
  });

  test('lets the same head be submitted again when it is green after the issue went back', async () => {
    const { number, head } = await submitted('flaky');
    await approve(head.sha);
    const { id } = await finished(head.sha, 'failure');
    await send();
    expect((await issue()).state).toBe('changes-requested');
    expect((await pull(number)).merged).toBe(false);
    await api('POST', `/check-runs/${id}/rerequest`, {}, BOT.token);
    await finished(head.sha, 'success');
    await work('develop', head.sha);
    await send();
    await approve(head.sha);
    await send();
    expect(await pull(number)).toMatchObject({ merged: true, head: { sha: head.sha } });
  });
});

describe('a check that is red on three heads', () => {
  /** Approves and tries to merge three heads, the last of which stays in merge-pending with a red check. */
  async function thirdHead(outcome: 'flaky' | 'failure'): Promise<{ number: number; sha: string }> {
    const { number, head } = await submitted(outcome);
    let { sha } = head;
    for (const round of [1, 2]) {
      await approve(sha);
      await finished(sha, 'failure');
      await send();
      expect((await issue()).state).toBe('changes-requested');
      sha = await sandbox.push(BRANCH, 'change.txt', `changed ${round}\n`, { repo: slug, token: BOT.token });
      await work('develop', sha);
      await send();
    }
    await approve(sha);
    await finished(sha, 'failure');
    return { number, sha };
  }
  const nextLook = async () => {
    database.clock.now = new Date(Date.now() + DEFAULT_SETTINGS.checks.pollSeconds * 1_000 + 1_000);
    await send();
  };

  test('runs again once, and the head is merged when it is then green', async () => {
    const { number, sha } = await thirdHead('flaky');
    await send();
    expect((await issue()).state).toBe('merge-pending');
    await finished(sha, 'success');
    await nextLook();
    expect(await pull(number)).toMatchObject({ merged: true, head: { sha } });
  });

  test('leads to a person when its second run fails, too', async () => {
    const { number, sha } = await thirdHead('failure');
    const [first] = (
      await api<{ check_runs: { id: number; completed_at: string }[] }>('GET', `/commits/${sha}/check-runs`)
    ).check_runs;
    await send();
    expect((await issue()).state).toBe('merge-pending');
    await until('the second run has ended', async () => {
      const path = `/commits/${sha}/check-runs`;
      const [run] = (await api<{ check_runs: (Run & { completed_at: string })[] }>('GET', path)).check_runs;
      return run?.conclusion === 'failure' && (run.id !== first?.id || run.completed_at !== first.completed_at);
    });
    await nextLook();
    expect(await issue()).toMatchObject({ state: 'failure-blocked', block_reason: 'ci_hard_failure' });
    expect(await pull(number)).toMatchObject({ state: 'open', merged: false });
  });

  test('leads to a person at the next look when the host refuses another run', async () => {
    await thirdHead('flaky');
    sandbox.sandbox.failNext({ match: { path: '/rerequest' }, status: 403 });
    await send();
    expect((await issue()).state).toBe('merge-pending');
    await nextLook();
    expect(await issue()).toMatchObject({ state: 'failure-blocked', block_reason: 'ci_hard_failure' });
  });
});

test('blocks the issue with ci_timeout and merges nothing when a check never ends', async () => {
  const { number, head } = await submitted('never');
  await approve(head.sha);
  await send();
  expect((await issue()).state).toBe('merge-pending');
  database.clock.now = new Date(Date.now() + DEFAULT_SETTINGS.checks.timeoutMinutes * 60_000 + 60_000);
  await send();
  expect(await issue()).toMatchObject({ state: 'failure-blocked', block_reason: 'ci_timeout' });
  expect(await pull(number)).toMatchObject({ state: 'open', merged: false });
});

test("leaves a fork's pull request alone when its branch has the name of the issue's branch", async () => {
  const { number, head } = await submitted('success');
  await api('POST', '/forks', {}, STRANGER.token);
  const fork = { repo: `stranger/hazard-${serial}`, token: STRANGER.token };
  await sandbox.push(BRANCH, 'foreign.txt', 'foreign\n', fork);
  const wanted = { title: 'Mine', body: 'Closes #1', head: `stranger:${BRANCH}`, base: 'main' };
  const foreign = await api<Pull>('POST', '/pulls', wanted, STRANGER.token);
  await reportPull(bench, 'opened', await hostPull(foreign.number), 'stranger');
  await approve(head.sha);
  await finished(head.sha, 'success');
  await send();
  expect(await pull(number)).toMatchObject({ merged: true, head: { sha: head.sha } });
  expect(await pull(foreign.number)).toMatchObject({ state: 'open', merged: false });
});
