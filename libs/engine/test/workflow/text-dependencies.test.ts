import { describe, expect, test } from '@jest/globals';
import { actOnIssue, ParentWatch, pollRepo, putRepo, releaseWaiting, transitionIssue } from '@pipeline/engine';
import { applyHostIssue, drain, finish, goodOutcome, hostIssue, say, step, take, workUntil } from '../harness.ts';
import { OLGA, Stage } from '../stage.ts';

const bench = new Stage({ at: null, issues: 0 });
const { database } = bench;
const URL = 'http://host.test/issues';
let second = 0;

/** An issue of the host with a text; later texts are newer. */
const written = (n: number, body: string, over = {}) => {
  second += 1;
  const updatedAt = new Date(Date.parse('2026-01-01T00:00:00Z') + second * 1000).toISOString();
  return hostIssue(n, { body, url: `${URL}/${n}`, updatedAt, ...over });
};
const enter = (n: number, body = 'Please.') => applyHostIssue(bench, written(n, body));
const edit = (n: number, body: string) => applyHostIssue(bench, written(n, body, { labels: [] }), { action: 'edited' });
const close = (n: number) =>
  applyHostIssue(bench, written(n, '', { state: 'closed', labels: [] }), { action: 'closed' });

const stateOf = async (n = 1) => (await bench.issue(n)).state;
const edges = async (n = 1) =>
  (
    await database.db
      .selectFrom('issue_edges')
      .select(['parent_issue_number', 'active', 'resolved_by'])
      .where('kind', '=', 'depends_on')
      .where('child_repo_id', '=', bench.repo.id)
      .where('child_issue_number', '=', n)
      .orderBy('id')
      .execute()
  ).map((edge) => `${edge.parent_issue_number} ${edge.active ? 'open' : edge.resolved_by}`);
const story = async (n = 1) => {
  const { id } = await bench.issue(n);
  const rows = await database.db.selectFrom('issue_events').select('status').where('issue_id', '=', id).execute();
  return rows.map((row) => row.status);
};
const release = () => releaseWaiting(bench.engine);

describe('an admitted issue with a dependency in its text', () => {
  test('waits without a task until the dependency is done', async () => {
    await enter(2);
    await enter(1, '- [ ] #2');
    expect(await bench.transitions()).toEqual([
      'new -> analyzing (admitted)',
      'analyzing -> dependency-blocked (depends)',
    ]);
    expect(await bench.issue()).toMatchObject({ is_blocked: true, blocked_from_state: 'analyzing' });
    expect((await take(bench)).issueNumber).toBe(2);
    await close(2);
    await release();
    expect(await stateOf()).toBe('analyzing');
    expect((await take(bench)).issueNumber).toBe(1);
  });

  test('shows the host one label and one comment, not those of the state it passed', async () => {
    await enter(2);
    await drain(bench);
    await enter(1, 'Depends on #2');
    const hostWrites = (await bench.entries()).filter((entry) => entry.issue_number === 1).map(({ action }) => action);
    const swaps = hostWrites.filter(({ type }) => type === 'swapLabels');
    expect(swaps).toMatchObject([{ add: ['svc:blocked', 'svc:dependency-blocked'], remove: ['svc:enqueue'] }]);
    expect(hostWrites.filter(({ type }) => type === 'updateComment')).toHaveLength(1);
  });

  test('waits for all of them', async () => {
    await enter(2);
    await enter(3);
    await enter(1, 'Blocked by #2 and #3');
    await close(2);
    await release();
    expect(await stateOf()).toBe('dependency-blocked');
    await close(3);
    await release();
    expect(await stateOf()).toBe('analyzing');
  });

  test('does not wait for one that is done', async () => {
    await enter(2);
    await close(2);
    await enter(1, 'Depends on #2');
    expect(await stateOf()).toBe('analyzing');
    expect(await edges()).toEqual(['2 done']);
  });

  test('waits for one of another repo of its tenant', async () => {
    const slug = { owner: bench.repo.owner, name: 'till' };
    const till = await putRepo(bench.engine, bench.tenantId, {
      slug,
      vcsHost: 'sandbox',
      cloneUrl: '',
      defaultBranch: 'main',
      setupCommand: null,
      poolSize: null,
      installationId: null,
      enabled: true,
    });
    const elsewhere = { engine: bench.engine, host: bench.host, repo: till };
    await applyHostIssue(elsewhere, written(9, 'Please.'));
    await enter(1, `Depends on ${slug.owner}/till#9`);
    expect(await stateOf()).toBe('dependency-blocked');
    await applyHostIssue(elsewhere, written(9, '', { state: 'closed' }), { action: 'closed' });
    await release();
    expect(await stateOf()).toBe('analyzing');
  });

  test('does not wait for an issue of a disabled repo, and reports that', async () => {
    await enter(1, 'Depends on stranger/thing#4');
    expect(await stateOf()).toBe('analyzing');
    expect(await story()).toContain('does not wait for stranger/thing#4: no issue of an enabled repository');
  });

  test('becomes a question in a cycle', async () => {
    bench.host.standings.set(2, 'open');
    await enter(1, 'Depends on #2');
    await enter(2, 'Depends on #1');
    expect(await bench.issue(2)).toMatchObject({ state: 'needs-clarification', blocked_from_state: 'analyzing' });
    expect((await bench.issue(2)).question).toContain('#1');
    await say(bench, 2, 'This one comes first.');
    expect(await stateOf(2)).toBe('analyzing');
  });

  test('does not wait for its own subtasks twice, nor a subtask for its epic', async () => {
    await enter(1);
    const subtasks = [{ title: 'Part', body: 'Blocked by #1', labels: [] }];
    await finish(bench, await take(bench), { outcome: 'split', result: { subtasks } });
    await drain(bench);
    const child = 1_001;
    expect(await stateOf(child)).toBe('needs-clarification');
    await edit(1, `- [ ] #${child}`);
    expect(await edges(1)).toEqual([]);
    expect(await stateOf()).toBe('waiting-for-subtasks');
  });
});

describe('an edit of the text', () => {
  test('holds an issue whose task is not claimed', async () => {
    await enter(2);
    await enter(1);
    await edit(1, 'Depends on #2');
    expect(await stateOf()).toBe('dependency-blocked');
    expect((await take(bench)).issueNumber).toBe(2);
  });

  test('does not affect a running task and applies from the next decision on', async () => {
    await enter(1);
    const task = await take(bench);
    await enter(2);
    await edit(1, 'Depends on #2');
    expect(await stateOf()).toBe('analyzing');
    await finish(bench, task, goodOutcome('analyze', 1));
    expect((await bench.transitions()).slice(-2)).toEqual([
      'analyzing -> planning (analyzed)',
      'planning -> dependency-blocked (depends)',
    ]);
    await close(2);
    await release();
    expect(await stateOf()).toBe('planning');
  });

  test('an edit that removes the last dependency releases the issue', async () => {
    await enter(2);
    await enter(1, 'Depends on #2');
    await edit(1, '~~Depends on 2~~');
    expect(await edges()).toEqual([]);
    await release();
    expect(await stateOf()).toBe('analyzing');
  });

  test('an edit that ticks the item releases the issue', async () => {
    await enter(2);
    await enter(1, '- [ ] #2');
    await edit(1, '- [x] #2');
    await release();
    expect(await stateOf()).toBe('analyzing');
  });

  test('an edit of other text does not restore dependencies that an operator overrode', async () => {
    await enter(2);
    await enter(1, 'Depends on #2');
    await actOnIssue(bench.engine, await bench.key(), 'unblock', OLGA);
    expect(await stateOf()).toBe('analyzing');
    await edit(1, 'Depends on #2!');
    expect(await stateOf()).toBe('analyzing');
    expect(await edges()).toEqual(['2 operator']);
  });

  test('an edit from an older poll changes nothing', async () => {
    await enter(2);
    const before = written(1, 'Depends on #2');
    await enter(1, 'Free.');
    await applyHostIssue(bench, before, { action: 'seen' });
    expect(await edges()).toEqual([]);
  });

  test('an edit after the submission does not stop the review', async () => {
    await enter(1);
    await workUntil(bench, 'in-review');
    await enter(2);
    await edit(1, 'Depends on #2');
    expect(await step(bench)).toBe('merge-pending');
  });

  test('an edit that closes a cycle while a task runs is recorded and not waited for', async () => {
    await enter(1);
    const task = await take(bench);
    await enter(2, 'Depends on #1');
    await edit(1, 'Depends on #2');
    await finish(bench, task, goodOutcome('analyze', 1));
    expect(await stateOf()).toBe('planning');
    expect(await story()).toContain('does not wait for #2: that one waits for this issue');
  });
});

test('a manual transition ignores the dependencies of the text', async () => {
  await enter(2);
  await enter(1, 'Depends on #2');
  await transitionIssue(bench.engine, await bench.key(), 'planning', OLGA);
  expect(await stateOf()).toBe('planning');
  await finish(bench, await take(bench, ['plan']), goodOutcome('plan', 1));
  expect(await stateOf()).toBe('ready-for-dev');
});

describe('a parent without a record', () => {
  test('a closed parent blocks no issue', async () => {
    bench.host.standings.set(7, 'closed');
    await enter(1, 'Depends on #7');
    expect(await stateOf()).toBe('analyzing');
    expect(await edges()).toEqual(['7 closed']);
  });

  test('a parent that does not exist is recorded and not waited for', async () => {
    await enter(1, 'Depends on #7');
    expect(await stateOf()).toBe('analyzing');
    expect(await story()).toContain('does not wait for #7: no issue of an enabled repository');
  });

  test('an open parent blocks until a webhook reports its close', async () => {
    bench.host.standings.set(7, 'open');
    await enter(1, 'Depends on #7');
    expect(await stateOf()).toBe('dependency-blocked');
    await close(7);
    await release();
    expect(await stateOf()).toBe('analyzing');
  });

  test('an open parent blocks until a poll finds it closed', async () => {
    bench.host.standings.set(7, 'open');
    await enter(1, 'Depends on #7');
    const closed = written(7, '', { state: 'closed', labels: [] });
    bench.host.listIssues = async () => ({ issues: [closed], changedPullRequests: [], etag: null });
    await pollRepo(bench, () => new Date());
    await release();
    expect(await stateOf()).toBe('analyzing');
  });

  test('counts as open while the host does not answer, and is read again', async () => {
    const standingOf = bench.host.standingOf;
    bench.host.standingOf = async () => {
      throw new Error('the host is away');
    };
    await enter(1, 'Depends on #7');
    expect(await stateOf()).toBe('dependency-blocked');
    bench.host.standingOf = standingOf;
    bench.host.standings.set(7, 'closed');
    expect(await watch().check()).toBe(1);
    await release();
    expect(await stateOf()).toBe('analyzing');
  });

  test('reads the parent every five minutes at most, with the etag of the previous response', async () => {
    bench.host.standings.set(7, 'open');
    await enter(1, 'Depends on #7');
    bench.host.standingsAsked.length = 0;
    let now = new Date();
    const watching = watch(() => now);
    await watching.check();
    await watching.check();
    now = new Date(now.getTime() + 5 * 60_000);
    await watching.check();
    expect(bench.host.standingsAsked).toEqual([
      [7, undefined],
      [7, '"open"'],
    ]);
  });

  test('reads parents in turn, a few per round', async () => {
    const many = Array.from({ length: 12 }, (_, index) => 100 + index);
    for (const n of many) bench.host.standings.set(n, 'open');
    await enter(1, many.map((n) => `- [ ] #${n}`).join('\n'));
    bench.host.standingsAsked.length = 0;
    const watching = watch();
    await watching.check();
    expect(bench.host.standingsAsked).toHaveLength(5);
    await watching.check();
    await watching.check();
    expect(bench.host.standingsAsked.map(([n]) => n).sort()).toEqual(many);
  });
});

/** Only this test's repo has a host, so that others' edges are not changed. */
const watch = (now = () => new Date()) =>
  new ParentWatch({
    engine: bench.engine,
    hostOf: (repo) => (repo.id === bench.repo.id ? bench.host : null),
    now,
    log: { warn: () => undefined },
  });
