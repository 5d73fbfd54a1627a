import { symlink } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { OUTCOMES_OF, type TaskPayload } from '@pipeline/domain';
import { AgentBench, type AgentRun, planOf, prOf } from './agent-bench.ts';

const README = '# Widgets\n\nAbout.\n\n## Install\n\nSee [guide](docs/gone.md).\n\n## Use\n\ntext\n';
const FILES = { 'README.md': README, 'src/a.ts': 'export const a = 1;\n', 'docs/b.md': '# B\n\n## C\n\nx\n' };
const HISTORY: TaskPayload['history'] = {
  end: 'merged',
  enteredAt: '2026-01-01T00:00:00.000Z',
  endedAt: null,
  changedFiles: ['README.md'],
  pullRequests: [],
  reviewCycles: 1,
  failures: [],
  costs: { totalUsd: 0.5, unreportedCosts: 0, byAgent: [] },
  timeline: [],
};
const TOC = { title: 'Add a table of contents to `README.md`' };

let bench: AgentBench;
beforeEach(async () => {
  bench = await AgentBench.open(FILES);
});
afterEach(() => bench.close());

/** Analysis to plan and submission of one issue. */
async function submitted(issue: { number?: number; title: string; labels?: string[] }) {
  const planned = await bench.run(bench.task('plan', issue));
  const plan = planOf(planned);
  const first = await bench.run(bench.task('develop', issue, { plan }));
  return { plan, first };
}

const failureOf = ({ failure }: AgentRun) => ({ ...failure?.data, message: failure?.message });

test('the script takes an issue from analysis to a merged head', async () => {
  const analyzed = await bench.run(bench.task('analyze', TOC));
  expect(analyzed).toMatchObject({ outcome: 'analyzed' });
  const plan = planOf(await bench.run(bench.task('plan', TOC)));
  const first = await bench.run(bench.task('develop', TOC, { plan }));
  expect(plan.plannedFiles).toEqual(['README.md']);
  expect(first).toMatchObject({
    outcome: 'submitted',
    result: { branch: 'svc/issue-1', changedFiles: ['README.md'], body: expect.stringContaining('Refs #1') },
  });
  expect(await bench.fileAt('svc/issue-1', 'README.md')).toContain('- [Install](#install)');

  const pr = prOf(first);
  const reviewed = await bench.run(bench.task('review', TOC, { plan, pr }));
  expect(reviewed.outcome).toBe('approved');
  const merged = await bench.run(bench.task('merge', TOC, { plan, pr }));
  expect(merged).toMatchObject({ outcome: 'mergeable', result: { headSha: pr.headSha } });
  await bench.merge('svc/issue-1');
  const looked = await bench.run(bench.task('retrospect', TOC, { plan, history: HISTORY }));
  expect(looked.result).toMatchObject({ outcomeClassification: 'success', actualFiles: { files: ['README.md'] } });

  for (const [taskType, run] of Object.entries({
    analyze: analyzed,
    develop: first,
    review: reviewed,
    merge: merged,
    retrospect: looked,
  }))
    expect(OUTCOMES_OF[taskType as 'develop']).toContain(run.outcome);
  const usage = first.steps.find((step) => 'usage' in step);
  expect(usage && 'usage' in usage && usage.usage.costUsd).toBeGreaterThan(0);
});

test('the commit names its author and the issue, and running development again changes nothing', async () => {
  const { plan, first } = await submitted(TOC);
  await bench.git('fetch', '-q');
  expect(await bench.git('log', '-1', '--format=%an|%s|%b', 'origin/svc/issue-1')).toEqual(
    expect.stringMatching(/^Pipeline agent\|Add a table of contents to README\.md\|[\s\S]*\nRefs #1$/),
  );
  const again = await bench.run(bench.task('develop', TOC, { plan, pr: prOf(first) }));
  expect(again.result.headSha).toBe(first.result.headSha);
});

test('a sloppy first submission is found by the review and fixed by the next development', async () => {
  const issue = { ...TOC, labels: ['demo:sloppy'] };
  const { plan, first } = await submitted(issue);
  expect(await bench.fileAt('svc/issue-1', 'README.md')).not.toMatch(/\n$/);
  const refused = await bench.run(bench.task('review', issue, { plan, pr: prOf(first) }));
  expect(refused).toMatchObject({
    outcome: 'changes-requested',
    result: { comments: [{ path: 'README.md', body: expect.stringContaining('newline') }] },
  });
  const reviewComments = refused.result.comments.map((comment: object) => ({ author: 'reviewer', ...comment }));
  const second = await bench.run(bench.task('develop', issue, { plan, pr: prOf(first), reviewComments }));
  await bench.git('fetch', '-q');
  expect(await bench.git('log', '-1', '--format=%s', 'origin/svc/issue-1')).toMatch(/^Address the review/);
  expect((await bench.run(bench.task('review', issue, { plan, pr: prOf(second) }))).outcome).toBe('approved');
});

describe('failures that labels ask for', () => {
  test('flaky: the first attempt fails as transient, the second one works', async () => {
    const task = bench.task('develop', { ...TOC, labels: ['demo:flaky'] });
    expect(failureOf(await bench.run(task))).toMatchObject({ errorClass: 'transient' });
    const second = await bench.run({ ...task, attempt: 1 });
    expect(second.outcome).toBe('submitted');
    task.payload.pr = prOf(second);
    expect((await bench.run(task)).outcome).toBe('submitted');
  });

  test('broken: every attempt fails for good until a person has unblocked the issue', async () => {
    const issue = { ...TOC, labels: ['demo:broken'] };
    const previousAttempts = [{ attempt: 0, errorMessage: 'broken', outcome: null }];
    expect(failureOf(await bench.run(bench.task('develop', issue)))).toMatchObject({ errorClass: 'permanent' });
    const retried = { ...bench.task('develop', issue, { previousAttempts }), attempt: 1 };
    expect(failureOf(await bench.run(retried))).toMatchObject({ errorClass: 'permanent' });
    expect((await bench.run(bench.task('develop', issue, { previousAttempts }))).outcome).toBe('submitted');
  });

  test('unclear: asks once, then goes on with any answer', async () => {
    const issue = { ...TOC, labels: ['demo:unclear'] };
    expect((await bench.run(bench.task('analyze', issue))).outcome).toBe('needs-clarification');
    const answers = [{ author: 'x', body: 'as written' }];
    expect((await bench.run(bench.task('analyze', issue, { answers }))).outcome).toBe('analyzed');
  });

  test('human: the review hands over', async () => {
    const issue = { ...TOC, labels: ['demo:human'] };
    const { plan, first } = await submitted(issue);
    expect((await bench.run(bench.task('review', issue, { plan, pr: prOf(first) }))).outcome).toBe('needs-human');
  });
});

test('a prerequisite holds the issue until a commit that refers to it is on the default branch', async () => {
  const issue = { number: 2, title: 'Docstrings of `src`', body: 'Depends on #1, blocked by other/repo#7.' };
  expect((await bench.run(bench.task('analyze', issue))).result).toEqual({ on: ['#1', 'other/repo#7'] });
  const local = { ...issue, body: 'depends on #1' };
  await bench.commit('Not it\n\nRefs #11', { 'x.txt': 'x\n' });
  expect((await bench.run(bench.task('analyze', local))).outcome).toBe('depends');
  await bench.commit('It\n\nRefs #1', { 'x.txt': 'y\n' });
  expect((await bench.run(bench.task('analyze', local))).outcome).toBe('analyzed');
});

describe('parallel chores', () => {
  test('a conflict is found before the merge, and development on the newest main resolves it', async () => {
    const one = { number: 1, title: 'Docstrings of `src`', labels: ['demo:crowded'] };
    const two = { number: 2, title: 'Licence headers of `src`', labels: ['demo:crowded'] };
    const a = await submitted(one);
    const b = await submitted(two);
    await bench.merge('svc/issue-1');
    const pr = prOf(b.first);
    expect((await bench.run(bench.task('merge', two, { plan: b.plan, pr }))).result).toEqual({
      files: ['docs/reports/index.md'],
    });
    expect((await bench.run(bench.task('review', two, { plan: b.plan, pr }))).outcome).toBe('changes-requested');
    const again = await bench.run(bench.task('develop', two, { plan: b.plan, pr }));
    expect((await bench.run(bench.task('review', two, { plan: b.plan, pr: prOf(again) }))).outcome).toBe('approved');
    expect((await bench.run(bench.task('merge', two, { plan: b.plan, pr: prOf(again) }))).outcome).toBe('mergeable');
    expect(await bench.fileAt('svc/issue-2', 'docs/reports/index.md')).toMatch(/- #1: .*\n- #2: /);
    expect(a.first.outcome).toBe('submitted');
  });

  test("a person's commits on the branch survive a rebase, and are never dropped for a conflict", async () => {
    const { plan, first } = await submitted(TOC);
    await bench.git('fetch', '-q');
    await bench.git('checkout', '-q', '-B', 'mine', 'origin/svc/issue-1');
    await bench.commit('By hand', { 'docs/b.md': '# B by hand\n\n## C\n\nx\n' }, 'svc/issue-1');
    await bench.git('checkout', '-q', 'main');
    await bench.commit('Elsewhere', { 'src/a.ts': 'export const a = 2;\n' });
    const rebased = await bench.run(bench.task('develop', TOC, { plan, pr: prOf(first) }));
    expect(rebased.result.changedFiles).toEqual(['README.md', 'docs/b.md']);
    const unplanned = await bench.run(bench.task('review', TOC, { plan, pr: prOf(rebased) }));
    expect(unplanned).toMatchObject({
      outcome: 'needs-human',
      result: { reason: expect.stringContaining('docs/b.md') },
    });

    await bench.commit('Same place', { 'docs/b.md': '# B otherwise\n\n## C\n\nx\n' });
    const stuck = await bench.run(bench.task('develop', TOC, { plan, pr: prOf(first) }));
    expect(stuck).toMatchObject({
      outcome: 'needs-clarification',
      result: { question: expect.stringContaining('A Person') },
    });
    expect(await bench.fileAt('svc/issue-1', 'docs/b.md')).toContain('by hand');
  });

  test('a head that moved after the review is not merged', async () => {
    const { plan, first } = await submitted(TOC);
    const pr = { ...prOf(first), headSha: 'a'.repeat(40) };
    expect((await bench.run(bench.task('merge', TOC, { plan, pr }))).outcome).toBe('not-ready');
  });
});

test('work that the default branch has already is no submission', async () => {
  const { plan } = await submitted(TOC);
  await bench.merge('svc/issue-1');
  const other = { ...TOC, number: 3 };
  expect((await bench.run(bench.task('analyze', other))).outcome).toBe('not-planned');
  expect((await bench.run(bench.task('develop', other, { plan }))).outcome).toBe('needs-clarification');
});

test('nothing is written through a symbolic link of the repository', async () => {
  await symlink('/tmp', `${bench.person}/docs/reports`);
  await bench.commit('Link', {});
  const issue = { title: 'Docstrings of `src`' };
  const { first } = await submitted(issue);
  expect(failureOf(first)).toMatchObject({
    errorClass: 'permanent',
    message: expect.stringContaining('symbolic link'),
  });
});
