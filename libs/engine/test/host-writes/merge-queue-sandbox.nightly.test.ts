/** A repo whose default branch has a merge queue, on the sandbox host through the real adapter. */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { TaskType } from '@pipeline/domain';
import { explainIssueAt } from '@pipeline/engine';
import { testDatabase } from '@pipeline/testing';
import { ANNA, BOT, createSandboxEnvironment, type SandboxEnvironment } from '@pipeline/testing/sandbox';
import { until } from '@pipeline/testing/until';
import { applyHostIssue, type Bench, drain, hostIssue, makeBench } from '../harness.ts';
import { updateRepo } from '../repo-columns.ts';
import { completeTasks } from './sandbox-repo.ts';

const database = testDatabase();
const OWNER = { login: 'acme', token: 'acme-token-1', type: 'User' as const };
let sandbox: SandboxEnvironment;
let bench: Bench;
let slug: string;
let serial = 0;
beforeAll(async () => {
  sandbox = await createSandboxEnvironment();
  sandbox.sandbox.addUser(OWNER);
});
afterAll(() => sandbox.end());

interface Pull {
  number: number;
  node_id: string;
  merged: boolean;
  head: { sha: string; ref: string };
}

async function api<T>(method: string, path: string, body?: unknown, { token } = ANNA): Promise<T> {
  const { status, data } = await sandbox.api(method, `/repos/${slug}${path}`, body, token);
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(data)}`);
  return data as T;
}

beforeEach(async () => {
  serial += 1;
  database.clock.now = new Date();
  slug = `acme/queued-${serial}`;
  await sandbox.sandbox.addRepo({ slug, collaborators: { [BOT.login]: 'write', anna: 'write' } });
  const checks = { type: 'required_status_checks', parameters: { required_status_checks: [{ context: 'build' }] } };
  const conditions = { ref_name: { include: ['~DEFAULT_BRANCH'] } };
  const rules = [{ type: 'merge_queue' }, checks];
  await api('POST', '/rulesets', { name: 'main', enforcement: 'active', conditions, rules }, OWNER);
  bench = await makeBench(database.store, { slug, tenant: slug.replace('/', '-') });
  await updateRepo({ ...bench, database }, { checks_policy: 'required' });
});

const build = (sha: string, state: 'success' | 'failure') =>
  api('POST', `/statuses/${sha}`, { context: 'build', state });
const pullOf = async (issue: number): Promise<Pull> => {
  const found = (await api<Pull[]>('GET', '/pulls?state=all')).find(({ head }) => head.ref === `svc/issue-${issue}`);
  if (!found) throw new Error(`no pull request of ${issue}`);
  return api('GET', `/pulls/${found.number}`);
};

const work = (types: TaskType[]) =>
  completeTasks({ sandbox, bench, slug }, types, {
    fileOf: (number) => ['shared.txt', `${number}\n`],
    headOf: async (number) => (await pullOf(number)).head.sha,
  });

const UNTIL_APPROVED = ['analyze', 'plan', 'develop', 'review'] as const;

/** An approved pull request with a green head, in the queue. */
async function queued(number: number): Promise<Pull> {
  await api('POST', '/issues', { title: `Issue ${number}` });
  await applyHostIssue(bench, hostIssue(number));
  for (const type of UNTIL_APPROVED) await work([type]);
  const pull = await pullOf(number);
  await build(pull.head.sha, 'success');
  await work(['merge']);
  return pull;
}

/** Lets the poll interval pass, and the outbox work. */
async function poll(minutes = 1): Promise<void> {
  database.clock.now = new Date((database.clock.now?.getTime() ?? 0) + minutes * 60_000);
  await drain({ engine: bench.engine, host: sandbox.host });
}

const groupsOf = async ({ number }: Pull): Promise<string[]> => {
  const url = `${sandbox.sandbox.url.replace('//', `//x:${BOT.token}@`)}/${slug}.git`;
  const refs = await sandbox.git(['ls-remote', url, `refs/heads/gh-readonly-queue/main/pr-${number}-*`]);
  return refs === '' ? [] : refs.split('\n').map((line) => line.split('\t')[0] ?? '');
};
async function groupOf(pull: Pull): Promise<string> {
  await until('the queue tests it', async () => (await groupsOf(pull)).length > 0);
  return (await groupsOf(pull)).at(-1) ?? '';
}
const out = (pull: Pull) =>
  until('it left the queue', async () => {
    const query = 'query { node { mergeQueueEntry } }';
    const { data } = await sandbox.api('POST', '/graphql', { query, variables: { id: pull.node_id } });
    return (data as { data: { node: { mergeQueueEntry: object | null } } }).data.node.mergeQueueEntry === null;
  });
const issue = (number: number) =>
  database.db
    .selectFrom('issues')
    .selectAll()
    .where('repo_id', '=', bench.repo.id)
    .where('issue_number', '=', number)
    .executeTakeFirstOrThrow();
const merges = () =>
  database.db
    .selectFrom('projections')
    .select(['status', 'attempts'])
    .where('repo_id', '=', bench.repo.id)
    .where(({ eb, ref }) => eb(ref('action', '->>').key('type' as never), '=', 'mergePR' as never))
    .orderBy('id')
    .execute();

test('merges by the queue, and reports that it waits for it', async () => {
  const pull = await queued(1);
  const group = await groupOf(pull);
  await poll();
  await poll();
  expect(await merges()).toEqual([{ status: 'pending', attempts: 0 }]);
  const { owner, name } = bench.repo;
  expect(await explainIssueAt(bench.engine, { owner, repo: name, number: 1 })).toMatchObject({
    explanation: expect.stringContaining(`the merge queue of the host to merge pull request #${pull.number}`),
  });
  expect((await issue(1)).status_comment_body).toContain('in the merge queue of the host');
  await build(group, 'success');
  await out(pull);
  await poll();
  expect((await issue(1)).state).toBe('done');
  expect(await merges()).toEqual([{ status: 'complete', attempts: 1 }]);
  const branch = await api<{ commit: { sha: string } }>('GET', '/branches/main');
  expect(branch.commit.sha).toBe(group);
});

test('returns to development with the failed checks when the tested commit is red', async () => {
  const pull = await queued(1);
  await build(await groupOf(pull), 'failure');
  await out(pull);
  await poll();
  expect((await issue(1)).state).toBe('changes-requested');
  const { id } = await issue(1);
  const comments = await database.store.db
    .selectFrom('review_comments')
    .select('body')
    .where('tenant_id', '=', bench.tenantId)
    .where('issue_id', '=', id)
    .execute();
  expect(JSON.stringify(comments)).toContain('The check build failed');
  expect((await pullOf(1)).merged).toBe(false);
});

test('returns to development when it conflicts with what was merged before it', async () => {
  const [first, second] = [await queued(1), await queued(2)];
  await build(await groupOf(first), 'success');
  await out(first);
  await out(second);
  await poll();
  expect((await issue(1)).state).toBe('done');
  expect((await issue(2)).state).toBe('changes-requested');
});

test('asks a person when a person took it out of the queue, and does not put it in again', async () => {
  const pull = await queued(1);
  await groupOf(pull);
  const query = 'mutation { dequeuePullRequest }';
  await sandbox.api('POST', '/graphql', { query, variables: { id: pull.node_id } }, ANNA.token);
  await poll();
  expect((await issue(1)).state).toBe('human-review-ready');
  await poll();
  await out(pull);
});

test('an issue is blocked when the queue does not merge it in time, and done when it merges after all', async () => {
  const pull = await queued(1);
  const group = await groupOf(pull);
  for (let hours = 0; hours < 8 && (await issue(1)).state === 'merge-pending'; hours += 1) await poll(60);
  expect(await issue(1)).toMatchObject({
    state: 'failure-blocked',
    block_reason: 'ci_timeout',
    last_error: expect.stringContaining('The merge queue of the host did not merge'),
  });
  await build(group, 'success');
  await until('it is merged', async () => (await pullOf(1)).merged);
});
