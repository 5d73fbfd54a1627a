import { describe, expect, test } from '@jest/globals';
import type { HostIssue, IssueAction } from '@pipeline/domain';
import { actOnIssue, applyHostEvent, transitionIssue } from '@pipeline/engine';
import { applyHostIssue, drain, hostIssue, step } from '../harness.ts';
import { OLGA, Stage } from '../stage.ts';

const bench = new Stage({ issues: 0 });

const ENQUEUED = { action: 'labeled', label: 'svc:enqueue' } as const;
const at = (minute: number) => `2026-03-01T00:0${minute}:00.000Z`;

/** A repeated or late delivery: the host's log has its event already. */
const again = (
  issue: HostIssue,
  how: { action: IssueAction; label?: string; sender?: string | null },
): Promise<void> => {
  const { action, label = null, sender = 'alice' } = how;
  return applyHostEvent(bench, { kind: 'issue', action, repo: bench.repo, issue, sender, label });
};

/** A poll that reads the host after all writes of the pipeline. */
const poll = (issue: HostIssue) => {
  bench.pass(1);
  return again(issue, { action: 'seen', sender: null });
};

/** Admitted, completed by the pipeline, and closed on the host. */
async function toTheEnd(): Promise<void> {
  while ((await bench.issue()).state !== 'done') await step(bench);
  await drain(bench);
}
const admissions = async () => (await bench.transitions()).filter((move) => move.startsWith('new -> ')).length;

describe('an issue that is done stays done', () => {
  test('the issue stays done when the delivery of the label arrives after a poll has admitted it', async () => {
    const issue = hostIssue(1, { updatedAt: bench.host.tick() });
    bench.host.log(issue, { ...ENQUEUED, actor: 'alice' });
    await poll(issue);
    await toTheEnd();
    await again(issue, ENQUEUED);
    expect(await admissions()).toBe(1);
    expect((await bench.entries()).map(({ action }) => action.type)).not.toContain('reopenIssue');
  });

  test('the issue stays done when a label arrives late that was added while it was in progress', async () => {
    await applyHostIssue(bench, hostIssue(1));
    const labeled = hostIssue(1, { updatedAt: bench.host.tick() });
    bench.host.log(labeled, { ...ENQUEUED, actor: 'anna' });
    await toTheEnd();
    await again(labeled, { ...ENQUEUED, sender: 'anna' });
    expect((await bench.issue()).state).toBe('done');
  });

  test('the issue stays done when a person closed and labelled it before the pipeline ended it', async () => {
    await applyHostIssue(bench, hostIssue(1));
    const closed = hostIssue(1, { state: 'closed', updatedAt: bench.host.tick() });
    bench.host.log(closed, { action: 'closed', label: null, actor: 'anna' });
    bench.host.log(closed, { ...ENQUEUED, actor: 'anna' });
    bench.pass(3_600);
    await actOnIssue(bench.engine, await bench.key(), 'cancel', OLGA);
    const { id } = await bench.entry('closeIssue');
    bench.host.nextResults.push({ status: 'ok', repeated: true, created: { at: closed.updatedAt } });
    await bench.send(id);
    await drain(bench);
    bench.pass(60);
    const issue = { ...closed, labels: ['svc:done', 'svc:enqueue'] };
    const readAt = bench.database.clock.now?.toISOString() ?? '';
    const seen = { kind: 'issue', action: 'seen', repo: bench.repo, issue, sender: null, label: null, readAt } as const;
    await applyHostEvent(bench, seen);
    expect((await bench.issue()).state).toBe('done');
  });

  test('the issue stays done when a poll shows that the pipeline itself has reopened it', async () => {
    await applyHostIssue(bench, hostIssue(1));
    await toTheEnd();
    const reopened = hostIssue(1, { updatedAt: bench.host.tick(), stateReason: 'reopened', labels: ['svc:done'] });
    bench.host.log(reopened, { action: 'reopened', label: null, actor: 'pipeline-bot' });
    await poll(reopened);
    expect((await bench.issue()).state).toBe('done');
  });

  test('the issue stays done when an applied reopening is delivered again under another id', async () => {
    await applyHostIssue(bench, hostIssue(1));
    await toTheEnd();
    const reopened = hostIssue(1, { updatedAt: bench.host.tick() });
    await applyHostIssue(bench, reopened, { action: 'reopened' });
    expect(await admissions()).toBe(2);
    await toTheEnd();
    await again(reopened, { action: 'reopened' });
    expect(await admissions()).toBe(2);
    expect((await bench.issue()).state).toBe('done');
  });

  test('the issue stays done when the pipeline ended it and the host has not closed it yet', async () => {
    await applyHostIssue(bench, hostIssue(1));
    await actOnIssue(bench.engine, await bench.key(), 'cancel', OLGA);
    await again(hostIssue(1, { updatedAt: bench.host.tick() }), ENQUEUED);
    expect((await bench.issue()).state).toBe('done');
  });
});

describe('an issue that is done starts again', () => {
  test('the issue starts again when a person reopens it, by webhook or by poll', async () => {
    await applyHostIssue(bench, hostIssue(1));
    await toTheEnd();
    const reopened = hostIssue(1, { updatedAt: bench.host.tick() });
    bench.host.log(reopened, { action: 'reopened', label: null, actor: 'alice' });
    await poll({ ...reopened, stateReason: 'reopened', labels: ['svc:done'] });
    expect(await admissions()).toBe(2);
    const [last] = (await bench.transitions()).slice(-2);
    expect(last).toBe('done -> new (reopened)');
  });

  test('the issue starts again when a person adds the label after the close, in the same second', async () => {
    await applyHostIssue(bench, hostIssue(1));
    const closed = hostIssue(1, { state: 'closed', updatedAt: at(5) });
    await applyHostIssue(bench, closed, { action: 'closed' });
    expect((await bench.issue()).state).toBe('done');
    await applyHostIssue(bench, closed, { ...ENQUEUED, sender: 'anna' });
    expect(await admissions()).toBe(2);
    expect(await bench.entry('reopenIssue')).toMatchObject({ status: 'pending' });
  });
});

describe('labels and states that arrive out of order', () => {
  test('apply the newest pause of the host', async () => {
    await applyHostIssue(bench, hostIssue(1));
    const how = { label: 'svc:paused', sender: 'anna' };
    await applyHostIssue(bench, hostIssue(1, { updatedAt: at(4) }), { action: 'unlabeled', ...how });
    await applyHostIssue(bench, hostIssue(1, { updatedAt: at(3) }), { action: 'labeled', ...how });
    expect((await bench.issue()).is_paused).toBe(false);
    await applyHostIssue(bench, hostIssue(1, { updatedAt: at(7) }), { action: 'labeled', ...how });
    await again(hostIssue(1, { updatedAt: at(4) }), { action: 'unlabeled', ...how });
    expect((await bench.issue()).is_paused).toBe(true);
  });

  test('apply the newest change of each other label', async () => {
    await applyHostIssue(bench, hostIssue(1));
    const bug = { label: 'bug', sender: 'anna' };
    await applyHostIssue(bench, hostIssue(1, { updatedAt: at(4) }), { action: 'unlabeled', ...bug });
    await applyHostIssue(bench, hostIssue(1, { updatedAt: at(3) }), { action: 'labeled', ...bug });
    await applyHostIssue(bench, hostIssue(1, { updatedAt: at(2) }), { action: 'labeled', label: 'docs' });
    expect((await bench.issue()).labels).toEqual(['svc:analyzing', 'docs']);
  });

  test('leave an issue open when it was reopened after the close', async () => {
    await applyHostIssue(bench, hostIssue(1));
    await applyHostIssue(bench, hostIssue(1, { updatedAt: at(4) }), { action: 'reopened' });
    await applyHostIssue(bench, hostIssue(1, { state: 'closed', updatedAt: at(3) }), { action: 'closed' });
    expect((await bench.issue()).state).toBe('analyzing');
  });

  test('reads the issue from the host to settle labels and states with the same timestamp', async () => {
    await applyHostIssue(bench, hostIssue(1));
    await drain(bench);
    bench.pass(1);
    const now = hostIssue(1, { updatedAt: at(4), labels: ['svc:analyzing'] });
    await applyHostIssue(bench, now, { action: 'reopened' });
    await again({ ...now, state: 'closed', closedAt: at(4) }, { action: 'closed' });
    expect((await bench.issue()).state).toBe('analyzing');
    bench.host.issues.set(1, { ...now, state: 'closed', closedAt: at(4) });
    await again({ ...now, state: 'closed', closedAt: at(4) }, { action: 'closed' });
    expect((await bench.issue()).state).toBe('done');
  });
});

describe('an issue that is in progress', () => {
  test('continues when an edit shows the close by the pipeline that an operator has reverted since', async () => {
    await applyHostIssue(bench, hostIssue(1));
    await toTheEnd();
    bench.pass(60);
    await transitionIssue(bench.engine, await bench.key(), 'new', OLGA);
    const closed = hostIssue(1, { updatedAt: at(2), state: 'closed', closedAt: at(1), title: 'Please' });
    await again(closed, { action: 'edited' });
    expect((await bench.issue()).state).toBe('analyzing');
  });

  test('ends when a poll shows a close by a person although the pull request could not be opened', async () => {
    await applyHostIssue(bench, hostIssue(1));
    while ((await bench.issue()).state !== 'in-review') await bench.work();
    bench.refuse('no commits');
    await bench.send('createPR');
    await drain(bench);
    bench.pass(1);
    const closed = { state: 'closed', updatedAt: bench.host.tick(), labels: ['svc:in-review'] } as const;
    await poll(hostIssue(1, { ...closed, labels: [...closed.labels], closedAt: closed.updatedAt }));
    expect(await bench.entry('createPR')).toMatchObject({ status: 'discarded' });
    expect((await bench.issue()).state).toBe('done');
  });

  test('waits for a person when a poll shows it closed after its reopening has failed', async () => {
    await applyHostIssue(bench, hostIssue(1));
    await toTheEnd();
    bench.pass(60);
    await transitionIssue(bench.engine, await bench.key(), 'new', OLGA);
    bench.refuse('locked');
    await bench.send('reopenIssue');
    await drain(bench);
    await poll(hostIssue(1, { state: 'closed', updatedAt: at(2), closedAt: at(1), labels: ['svc:analyzing'] }));
    expect((await bench.issue()).state).toBe('analyzing');
  });
});

describe('a command on the host', () => {
  let ids = 100;
  const command = (body: string, createdAt: string, id?: number) => {
    ids += 1;
    const comment = { id: id ?? ids, author: 'anna', body, createdAt, updatedAt: createdAt };
    const about = { repo: bench.repo, issueNumber: 1, onPullRequest: false, issueAuthor: 'alice', sender: 'anna' };
    return applyHostEvent(bench, { kind: 'comment', ...about, comment });
  };

  test('a command has no effect when a newer one of its kind was applied', async () => {
    await applyHostIssue(bench, hostIssue(1));
    await command('/svc:resume', at(6));
    await command('/svc:pause', at(5));
    expect((await bench.issue()).is_paused).toBe(false);
    await command('/svc:retry', at(8));
    await command('/svc:cancel', at(7));
    expect((await bench.issue()).state).toBe('analyzing');
    expect(bench.host.reactions.map(([, content]) => content)).toEqual(['+1', 'confused', '+1', 'confused']);
  });

  test('a command has no effect when it was given before the issue was started again', async () => {
    await applyHostIssue(bench, hostIssue(1));
    await toTheEnd();
    const late = bench.host.tick();
    await applyHostIssue(bench, hostIssue(1), { action: 'reopened' });
    await command('/svc:cancel', late);
    expect((await bench.issue()).state).toBe('analyzing');
  });

  test('a command has no effect when an operator has paused or resumed since', async () => {
    await applyHostIssue(bench, hostIssue(1));
    bench.pass(60);
    await actOnIssue(bench.engine, await bench.key(), 'resume', OLGA);
    await command('/svc:pause', '2026-03-01T00:00:30.000Z');
    expect((await bench.issue()).is_paused).toBe(false);
    await command('/svc:pause', '2026-03-01T00:00:58.000Z');
    expect((await bench.issue()).is_paused).toBe(true);
  });
});
