import { expect, test } from '@jest/globals';
import { DEFAULT_WORKFLOW, type WorkflowSnapshot } from '@pipeline/domain';
import { admin } from '@pipeline/engine';
import { testDatabase } from '@pipeline/testing';
import { applyHostIssue, type Bench, finish, goodOutcome, hostIssue, makeBench, step, take } from '../harness.ts';

const database = testDatabase();

const put = (bench: Bench, document: WorkflowSnapshot) =>
  admin.putWorkflow(
    { engine: bench.engine, actor: 'olga', reason: null },
    { repo: `${bench.repo.owner}/${bench.repo.name}`, org: null, document, activate: true },
  );

/** Analysis leads directly to in-progress. */
const SHORT: WorkflowSnapshot = {
  ...DEFAULT_WORKFLOW,
  edges: DEFAULT_WORKFLOW.edges.map((edge) => (edge.trigger === 'analyzed' ? { ...edge, to: 'ready-for-dev' } : edge)),
};

test('decides by the new workflow when a task was claimed under the old one', async () => {
  const bench = await makeBench(database.store);
  await applyHostIssue(bench, hostIssue(1));
  const task = await take(bench);
  expect(await put(bench, SHORT)).toMatchObject({ version: 2, active: true, warnings: [] });
  const answer = await finish(bench, task, goodOutcome('analyze', 1));
  expect(answer.state).toBe('ready-for-dev');
  expect(await step(bench)).toBe('in-review');
});

test('creates a dead letter when the new workflow has no edge for a report', async () => {
  const bench = await makeBench(database.store, { slug: 'lean/shop' });
  await applyHostIssue(bench, hostIssue(1));
  const task = await take(bench);
  const lean = {
    ...SHORT,
    edges: SHORT.edges.filter(({ from, trigger }) => from !== 'analyzing' || trigger !== 'split'),
  };
  expect((await put(bench, lean)).warnings).toEqual([
    'analyzing: an agent that reports split makes a dead letter, for no edge leaves on it',
    '1 issue is in analyzing, which loses its edges on split',
  ]);
  const subtasks = [{ title: 'One', body: '', labels: [] }];
  const answer = await finish(bench, task, { outcome: 'split', result: { subtasks } });
  expect(answer.state).toBe('analyzing');
  const deadLetters = database.db.selectFrom('dead_letters').select(['issue_number', 'error']);
  expect(await deadLetters.where('repo_id', '=', bench.repo.id).execute()).toMatchObject([
    { issue_number: 1, error: expect.stringContaining('no edge leaves analyzing on split') },
  ]);
});

test('keeps one owner when both leave concurrently', async () => {
  const { engine } = await makeBench(database.store, { slug: 'beta/api' });
  const by: admin.Admin = { engine, actor: 'olga', reason: null };
  for (const email of ['a@beta.org', 'b@beta.org']) {
    await admin.createUser(by, { email, name: email, password: null });
    await admin.addMember(by, { org: 'beta', email, role: 'owner' });
  }
  const left = await Promise.allSettled([
    admin.removeMember(by, { org: 'beta', email: 'a@beta.org' }),
    admin.removeMember(by, { org: 'beta', email: 'b@beta.org' }),
  ]);
  expect(left.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  expect((await admin.listGrants(by, 'beta')).map(({ role }) => role)).toEqual(['owner']);
});
