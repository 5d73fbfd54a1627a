import { beforeEach, describe, expect, test } from '@jest/globals';
import type { HostEvent, HostPullRequest } from '@pipeline/domain';
import { actOnIssue, applyHostEvent, drainInbox, pollRepo, receiveDelivery, releaseWaiting } from '@pipeline/engine';
import { findPullRequest } from '@pipeline/store';
import { applyHostIssue, type Bench, drain, finish, hostIssue, say, step, take, workUntil } from '../harness.ts';
import { hostPull } from '../host-pulls.ts';
import { Stage } from '../stage.ts';

const bench = new Stage({ issues: 0 });
const { database } = bench;

const pullRequest = (over: Partial<HostPullRequest> = {}): HostPullRequest => hostPull(bench, over);
const bring = (event: HostEvent) => applyHostEvent(bench, event);

describe('an issue on the host', () => {
  test('admits an issue once, by a webhook or a poll', async () => {
    await Promise.all([applyHostIssue(bench, hostIssue(1)), applyHostIssue(bench, hostIssue(1), { action: 'seen' })]);
    expect(await bench.transitions()).toEqual(['new -> analyzing (admitted)']);
  });

  test('the event of our own write does not change the issue', async () => {
    await applyHostIssue(bench, hostIssue(1));
    const labels = ['svc:analyzing', 'svc:paused'];
    await applyHostIssue(bench, hostIssue(1, { labels }), {
      action: 'labeled',
      label: 'svc:paused',
      sender: 'pipeline-bot',
    });
    expect((await bench.issue()).is_paused).toBe(false);
  });

  test('a label pauses and resumes the issue', async () => {
    await applyHostIssue(bench, hostIssue(1));
    await applyHostIssue(bench, hostIssue(1), { action: 'labeled', label: 'svc:paused' });
    expect(await bench.issue()).toMatchObject({ is_paused: true, state: 'analyzing' });
    await expect(take(bench)).rejects.toThrow('nothing to claim');
    await applyHostIssue(bench, hostIssue(1), { action: 'unlabeled', label: 'svc:paused' });
    expect((await take(bench)).taskType).toBe('analyze');
  });

  test('keeps its text when a late webhook arrives', async () => {
    await applyHostIssue(bench, hostIssue(1));
    await applyHostIssue(bench, hostIssue(1, { title: 'New', updatedAt: '2026-03-01T00:00:05.000Z' }), {
      action: 'edited',
    });
    await applyHostIssue(bench, hostIssue(1, { title: 'Old', updatedAt: '2026-03-01T00:00:04.000Z' }), {
      action: 'edited',
    });
    expect((await bench.issue()).title).toBe('New');
  });

  test('a poll older than our last write does not change the issue', async () => {
    await applyHostIssue(bench, hostIssue(1));
    await drain(bench);
    const stale = hostIssue(1, { labels: ['svc:enqueue', 'svc:paused'], updatedAt: '2026-02-28T23:59:00.000Z' });
    await applyHostIssue(bench, stale, { action: 'seen', sender: null });
    expect(await bench.issue()).toMatchObject({ is_paused: false, labels: ['svc:analyzing'] });
    const fresh = hostIssue(1, { labels: ['svc:analyzing', 'svc:paused'], updatedAt: '2026-03-01T00:01:00.000Z' });
    bench.host.log(fresh, { action: 'labeled', label: 'svc:paused', actor: 'anna' });
    await applyHostIssue(bench, fresh, { action: 'seen', sender: null });
    expect((await bench.issue()).is_paused).toBe(true);
  });

  test('a person cancels the issue by closing it, and restarts it by reopening it', async () => {
    await applyHostIssue(bench, hostIssue(1));
    await applyHostIssue(bench, hostIssue(1, { state: 'closed' }), { action: 'closed' });
    expect((await bench.issue()).state).toBe('done');
    await applyHostIssue(bench, hostIssue(1), { action: 'reopened' });
    expect(await bench.transitions()).toEqual([
      'new -> analyzing (admitted)',
      'analyzing -> done (host-closed)',
      'done -> new (reopened)',
      'new -> analyzing (admitted)',
    ]);
  });

  test.each([
    ['closed', 'alice'],
    ['seen', null],
  ] as const)(
    'records the closer when a webhook reports a close, and no closer when a poll does: %s',
    async (action, closer) => {
      await applyHostIssue(bench, hostIssue(1));
      await drain(bench);
      bench.pass(1);
      await applyHostIssue(bench, hostIssue(1, { state: 'closed' }), { action, sender: closer });
      const [move] = await bench.database.db
        .selectFrom('transitions')
        .select('actor_id')
        .where('trigger', '=', 'host-closed')
        .orderBy('id', 'desc')
        .execute();
      expect(move).toEqual({ actor_id: closer });
    },
  );

  test('an issue whose close was caused by a merge is merged', async () => {
    await applyHostIssue(bench, hostIssue(1));
    await workUntil(bench, 'in-review');
    await drain(bench);
    bench.host.pulls.set(1_001, pullRequest({ state: 'closed', merged: true, mergeCommitSha: 'cafe123' }));
    await applyHostIssue(bench, hostIssue(1, { state: 'closed' }), { action: 'closed' });
    expect((await bench.transitions()).at(-1)).toBe('in-review -> done (host-merged)');
  });
});

describe('a comment', () => {
  test('handles a comment once when webhooks and polls repeat it', async () => {
    await applyHostIssue(bench, hostIssue(1));
    const at = '2026-03-01T00:00:00.000Z';
    const event: HostEvent = {
      kind: 'comment',
      repo: bench.repo,
      issueNumber: 1,
      onPullRequest: false,
      comment: { id: 900_001, author: 'alice', body: '/svc:pause for now', createdAt: at, updatedAt: at },
      issueAuthor: 'alice',
      sender: 'alice',
    };
    await Promise.all([bring(event), bring(event), bring(event)]);
    expect((await bench.issue()).is_paused).toBe(true);
    expect(bench.host.reactions).toHaveLength(1);
    const actions = await database.db
      .selectFrom('pipeline_events')
      .select('payload')
      .where('repo_id', '=', bench.repo.id)
      .where('event_type', '=', 'operator_action')
      .execute();
    expect(actions).toEqual([{ payload: { action: 'pause', actorId: 'alice', reason: 'for now' } }]);
  });

  test('a comment with an unknown command gets a reaction and changes nothing', async () => {
    await applyHostIssue(bench, hostIssue(1));
    await say(bench, 1, '/svc:explode');
    expect(bench.host.reactions.map(([, content]) => content)).toEqual(['confused']);
  });
});

describe('a pull request on the host', () => {
  beforeEach(async () => {
    await applyHostIssue(bench, hostIssue(1));
    await workUntil(bench, 'in-review');
    await drain(bench);
  });
  const pr = (action: 'merged' | 'closed', over: Partial<HostPullRequest>) =>
    bring({ kind: 'pull-request', action, repo: bench.repo, pullRequest: pullRequest(over), sender: 'alice' });

  test('ends the issue and deletes its task when a person merges it', async () => {
    await pr('merged', { state: 'closed', merged: true, mergeCommitSha: 'cafe123' });
    expect(await bench.issue()).toMatchObject({ state: 'done' });
    await expect(take(bench)).rejects.toThrow('nothing to claim');
  });

  test('a later merge marks the pull request as reverted, with one event', async () => {
    await pr('merged', { state: 'closed', merged: true, mergeCommitSha: 'cafe123' });
    const { owner, name } = bench.repo;
    const revert = { number: 1_002, headRef: 'revert-1001', body: `Reverts ${owner}/${name}#1001`, author: 'alice' };
    await pr('closed', { ...revert, state: 'closed' });
    const marked = async () => (await findPullRequest(database.db, bench.tenantId, bench.repo.id, 1_001))?.reverted_by;
    expect(await marked()).toBeNull();
    await pr('merged', { ...revert, state: 'closed', merged: true });
    await pr('merged', { ...revert, state: 'closed', merged: true });
    expect(await marked()).toBe(1_002);
    const events = await database.db
      .selectFrom('pipeline_events')
      .select(['issue_number', 'payload'])
      .where('repo_id', '=', bench.repo.id)
      .where('event_type', '=', 'pr_reverted')
      .execute();
    expect(events).toEqual([{ issue_number: 1, payload: { prNumber: 1_001, revertedBy: 1_002 } }]);
  });

  test('stops the issue with a reason when closed without a merge', async () => {
    await pr('closed', { state: 'closed' });
    expect(await bench.issue()).toMatchObject({ state: 'failure-blocked', block_reason: 'pr_closed' });
  });

  test('goes back with the text of the review when a person requests changes', async () => {
    const review = {
      id: 1,
      author: 'alice',
      verdict: 'changes_requested' as const,
      body: 'not like this',
      submittedAt: null,
      commitSha: null,
    };
    await bring({ kind: 'review', repo: bench.repo, prNumber: 1_001, review, sender: 'alice' });
    expect((await bench.issue()).state).toBe('changes-requested');
    expect((await take(bench)).payload.reviewComments).toMatchObject([{ author: 'alice', body: 'not like this' }]);
  });
});

describe('issues that wait for others', () => {
  test('wait until the dependency is done; a cycle becomes a question instead of a deadlock', async () => {
    await applyHostIssue(bench, hostIssue(1));
    const first = await take(bench);
    await finish(bench, first, { outcome: 'depends', result: { on: ['#2'] } });
    expect(await bench.issue(1)).toMatchObject({ state: 'dependency-blocked', is_blocked: true });
    await applyHostIssue(bench, hostIssue(2));
    await finish(bench, await take(bench), { outcome: 'depends', result: { on: ['#1'] } });
    expect(await bench.issue(2)).toMatchObject({ state: 'needs-clarification' });
    expect((await bench.issue(2)).question).toContain('#1');
    await releaseWaiting(bench.engine);
    expect((await bench.issue(1)).state).toBe('dependency-blocked');
    await applyHostIssue(bench, hostIssue(2, { state: 'closed' }), { action: 'closed' });
    await releaseWaiting(bench.engine);
    expect(await bench.issue(1)).toMatchObject({ state: 'analyzing', is_blocked: false });
  });

  test('do not wait for a dependency that was done before', async () => {
    await applyHostIssue(bench, hostIssue(2));
    await applyHostIssue(bench, hostIssue(2, { state: 'closed' }), { action: 'closed' });
    expect((await bench.issue(2)).state).toBe('done');
    await applyHostIssue(bench, hostIssue(1));
    await finish(bench, await take(bench), { outcome: 'depends', result: { on: ['#2'] } });
    expect((await bench.issue(1)).state).toBe('dependency-blocked');
    await releaseWaiting(bench.engine);
    expect(await bench.issue(1)).toMatchObject({ state: 'analyzing', is_blocked: false });
  });

  test('an epic waits for its subtasks, which are admitted automatically', async () => {
    await applyHostIssue(bench, hostIssue(1));
    const subtasks = ['a', 'b'].map((title) => ({ title, body: '', labels: [] }));
    await finish(bench, await take(bench), { outcome: 'split', result: { subtasks } });
    await releaseWaiting(bench.engine);
    expect((await bench.issue(1)).state).toBe('waiting-for-subtasks');
    await drain(bench);
    for (let i = 0; i < 10; i += 1) await step(bench);
    await releaseWaiting(bench.engine);
    expect((await bench.issue(1)).state).toBe('done');
  });
});

describe('deliveries', () => {
  const event = (): HostEvent => ({
    kind: 'issue',
    action: 'labeled',
    repo: { owner: bench.repo.owner, name: bench.repo.name },
    issue: hostIssue(1),
    sender: 'alice',
    label: 'svc:enqueue',
  });

  test('stores and handles a delivery once, and recognises repetitions', async () => {
    const id = `delivery of ${bench.repo.owner}`;
    expect(await receiveDelivery(bench.engine, id, 'issues', [event()])).toBe(true);
    expect(await receiveDelivery(bench.engine, id, 'issues', [event()])).toBe(false);
    expect(await drainInbox(bench.engine, () => bench.host)).toBe(1);
    expect(await drainInbox(bench.engine, () => bench.host)).toBe(0);
    expect((await bench.issue()).state).toBe('analyzing');
  });

  test('retries a delivery that fails later, without blocking others', async () => {
    bench.host.login = async () => {
      throw new Error('host is down');
    };
    await receiveDelivery(bench.engine, 'bad', 'issues', [event()]);
    expect(await drainInbox(bench.engine, () => bench.host)).toBe(0);
    bench.host.login = async () => 'pipeline-bot';
    await receiveDelivery(bench.engine, 'good', 'issues', [{ ...event(), issue: hostIssue(2) } as HostEvent]);
    expect(await drainInbox(bench.engine, () => bench.host)).toBe(1);
    bench.pass(60);
    expect(await drainInbox(bench.engine, () => bench.host)).toBe(1);
    expect((await bench.issue()).state).toBe('analyzing');
  });
});

describe('a poll', () => {
  test('first reads issues with an intake request, then changes; an unchanged repo moves no cursor', async () => {
    const asked: unknown[] = [];
    let answer: Awaited<ReturnType<Bench['host']['listIssues']>> = {
      issues: [hostIssue(1)],
      changedPullRequests: [],
      etag: '"one"',
    };
    bench.host.listIssues = async (_repo, query) => {
      asked.push(query);
      return answer;
    };
    const poll = () => pollRepo(bench, () => new Date('2026-03-01T00:00:00Z'));
    await poll();
    expect((await bench.issue()).state).toBe('analyzing');
    answer = { issues: [hostIssue(2, { updatedAt: '2026-03-01T00:05:00Z' })], changedPullRequests: [], etag: '"two"' };
    await poll();
    await drain(bench);
    bench.pass(1);
    await poll();
    answer = null;
    await poll();
    expect(asked).toEqual([
      { state: 'open', labels: ['svc:enqueue'] },
      { state: 'all', since: '2026-02-28T23:59:58.000Z' },
      { state: 'all', since: '2026-03-01T00:04:58.000Z' },
      { state: 'all', since: '2026-03-01T00:04:58.000Z', etag: '"two"' },
    ]);
    expect((await bench.issue(2)).state).toBe('analyzing');
  });

  test('reads a changed pull request twice at most when no issue changes', async () => {
    const at = (minutes: number) => new Date(Date.parse('2026-03-01T00:10:00Z') + minutes * 60_000).toISOString();
    const pulls: { number: number; updatedAt: string }[] = [];
    bench.host.listIssues = async (_repo, { since = '' }) => {
      const changedPullRequests = pulls.filter(({ updatedAt }) => updatedAt >= since);
      return { issues: [], changedPullRequests, etag: null };
    };
    const read: number[] = [];
    bench.host.getPullRequest = async (_repo, number) => {
      read.push(number);
      return hostPull(bench, { number, headRef: `feature-${number}`, author: 'bob', updatedAt: at(number) });
    };
    for (let number = 1; number <= 4; number += 1) {
      pulls.push({ number, updatedAt: at(number) });
      await pollRepo(bench, () => new Date(at(0)));
    }
    expect(read).toEqual([1, 1, 2, 2, 3, 3, 4]);
  });
});

describe('an outdated view of a pull request', () => {
  const changed = { number: 1_001, updatedAt: '2026-03-01T00:00:00.000Z' };
  const poll = () => pollRepo(bench, () => database.clock.now ?? new Date());
  const stored = () => findPullRequest(database.db, bench.tenantId, bench.repo.id, 1_001);
  const webhook = (action: 'closed' | 'synchronize', over: Partial<HostPullRequest>) =>
    bring({ kind: 'pull-request', action, repo: bench.repo, pullRequest: pullRequest(over), sender: 'alice' });

  beforeEach(async () => {
    await applyHostIssue(bench, hostIssue(1));
    await workUntil(bench, 'in-review');
    bench.pass(10);
    bench.host.listIssues = async () => ({ issues: [], changedPullRequests: [changed], etag: null });
    bench.host.pulls.set(1_001, pullRequest());
    await poll();
  });

  test('leaves it merged when a poll read it before our merge', async () => {
    bench.host.getPullRequest = async () => {
      bench.host.getPullRequest = async () => pullRequest();
      await step(bench);
      await step(bench);
      return pullRequest();
    };
    await poll();
    expect((await bench.issue()).state).toBe('done');
    expect(await stored()).toMatchObject({ state: 'closed', merged: true, merge_sha: 'cafe123' });
  });

  test('changes nothing when it comes from a late webhook', async () => {
    await webhook('closed', { state: 'closed', updatedAt: '2026-03-01T00:00:05.000Z' });
    await webhook('synchronize', { headSha: 'old0000', updatedAt: '2026-03-01T00:00:04.000Z' });
    expect(await stored()).toMatchObject({ state: 'closed', head_sha: 'abc1234' });
  });

  test('reads an outdated view again, and does not treat it as a reopening, while our close is in flight', async () => {
    const since: (string | undefined)[] = [];
    bench.host.listIssues = async (_repo, query) => {
      since.push(query.since);
      const newer = hostIssue(7, { labels: [], updatedAt: '2026-03-01T01:00:00.000Z' });
      return { issues: [newer], changedPullRequests: [changed], etag: null };
    };
    await actOnIssue(bench.engine, await bench.key(), 'reimplement', { type: 'operator', id: 'olga', agent: null });
    await poll();
    expect(await stored()).toMatchObject({ state: 'closed' });
    bench.host.pulls.set(1_001, pullRequest({ state: 'closed' }));
    await drain(bench);
    bench.pass(10);
    await poll();
    await poll();
    expect(since.map((at) => at?.slice(11, 19))).toEqual(['23:59:59', '23:59:59', '00:59:58']);
  });

  test('the next poll corrects the view when the webhook of the reopening was lost', async () => {
    await webhook('closed', { state: 'closed', updatedAt: '2026-03-01T00:00:05.000Z' });
    await drain(bench);
    bench.host.pulls.set(1_001, pullRequest({ updatedAt: '2026-03-01T00:00:09.000Z' }));
    bench.pass(10);
    await poll();
    expect(await stored()).toMatchObject({ state: 'open' });
  });
});
