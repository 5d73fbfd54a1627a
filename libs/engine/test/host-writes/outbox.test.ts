import { describe, expect, test } from '@jest/globals';
import { beginSending, retryDeadLetter, sendable, transitionIssue } from '@pipeline/engine';
import { clearHistory } from '@pipeline/testing/history';
import { applyHostIssue, drain, finish, goodOutcome, hostIssue, makeBench, take, workUntil } from '../harness.ts';
import { OLGA, Stage } from '../stage.ts';

const bench = new Stage();

const mine = async () =>
  (await sendable(bench.engine, 'sandbox', 100)).filter((entry) => entry.tenant_id === bench.tenantId);
/** Moves the issue to merge-pending, with the merge still in the outbox. */
const askForMerge = async () => {
  await workUntil(bench, 'merge-pending');
  await drain(bench);
  await finish(bench, await take(bench), goodOutcome('merge', 1));
};

describe('the outbox', () => {
  test('sends one entry per lane of an issue at a time, oldest first', async () => {
    expect(await mine()).toHaveLength(2);
    const lanes = (await bench.entries()).map((entry) => entry.lane);
    expect(new Set(lanes)).toEqual(new Set(['labels', 'talk']));
  });

  test('the writes of a repo go out in turn with those of another one that has many', async () => {
    for (let number = 2; number <= 20; number += 1) await applyHostIssue(bench, hostIssue(number));
    const other = await makeBench(bench.database.store, { slug: 'globex/api', tenant: 'globex' });
    await applyHostIssue(other, hostIssue(1));
    const open = await sendable(bench.engine, 'sandbox', 1_000);
    const both = open.filter((entry) => [bench.tenantId, other.tenantId].includes(entry.tenant_id));
    const isOther = both.slice(0, 4).map((entry) => entry.tenant_id === other.tenantId);
    expect(isOther).toEqual([false, true, false, true]);
    await clearHistory(bench.database.db);
  });

  test('blocks only the lane of a failed entry', async () => {
    bench.refuse('no');
    const [head] = await mine();
    await bench.send(head?.id ?? 0);
    const failed = (await bench.entries()).find((entry) => entry.status === 'failed');
    await finish(bench, await take(bench), goodOutcome('analyze', 1));
    const open = await Promise.all(
      (await mine()).map(async ({ id }) => (await bench.entries()).find((e) => e.id === id)?.lane),
    );
    expect(open).not.toContain(failed?.lane);
    expect(open.length).toBeGreaterThan(0);
  });

  test("waits for the host's rate limit without using an attempt", async () => {
    const retryAt = '2026-03-01T00:10:00.000Z';
    bench.host.nextResults.push({ status: 'rate-limited', retryAt, message: 'slow down' });
    const [head] = await mine();
    await bench.send(head?.id ?? 0);
    const entry = (await bench.entries()).find(({ id }) => id === head?.id);
    expect(entry).toMatchObject({ status: 'pending', attempts: 0, retry_after: retryAt });
    bench.pass(601);
    expect((await mine()).map(({ id }) => id)).toContain(head?.id);
  });

  test('marks the next attempt after one that was interrupted or ended in doubt', async () => {
    bench.host.nextResults.push({ status: 'failed', message: 'socket hang up', ambiguous: true });
    const [head] = await mine();
    await bench.send(head?.id ?? 0);
    bench.pass(40);
    const again = await beginSending(bench.engine, bench.tenantId, head?.id ?? 0);
    expect(again?.mayHaveHappened).toBe(true);
    const afterCrash = await beginSending(bench.engine, bench.tenantId, head?.id ?? 0);
    expect(afterCrash?.mayHaveHappened).toBe(true);
  });

  test('gives up after eight attempts', async () => {
    const [head] = await mine();
    for (let i = 0; i < 8; i += 1) {
      bench.host.nextResults.push({ status: 'failed', message: 'down', ambiguous: false });
      await bench.send(head?.id ?? 0);
      bench.pass(4_000);
    }
    expect((await bench.entries()).find(({ id }) => id === head?.id)).toMatchObject({ status: 'failed', attempts: 8 });
  });

  test('rewrites a pending status comment instead of adding another', async () => {
    await finish(bench, await take(bench), goodOutcome('analyze', 1));
    await finish(bench, await take(bench), goodOutcome('plan', 1));
    const talk = (await bench.entries()).filter((entry) => entry.lane === 'talk');
    expect(talk).toHaveLength(1);
    expect(JSON.stringify(talk[0]?.action)).toContain('make the change');
  });
});

test('subtasks of two splits of an issue have different markers', async () => {
  const subtasks = [{ title: 'part', body: '', labels: [] }];
  const markers: string[] = [];
  for (let splits = 0; splits < 2; splits += 1) {
    await finish(bench, await take(bench), { outcome: 'split', result: { subtasks } });
    const { action } = await bench.entry('createIssue');
    if (action.type === 'createIssue') markers.push(action.marker);
    await transitionIssue(bench.engine, await bench.key(), 'planning', OLGA);
  }
  expect(markers).toEqual([expect.stringMatching(/^subtask-1-0-/), expect.stringMatching(/^subtask-1-0-/)]);
  expect(new Set(markers).size).toBe(2);
});

describe("the host's response to a merge", () => {
  test.each([
    ['conflict', 'changes-requested', 'develop'],
    ['not-ready', 'in-review', 'review'],
  ] as const)('%s sends the issue to %s with a task', async (kind, state, taskType) => {
    await askForMerge();
    bench.host.nextResults.push({ status: 'refused', httpStatus: 405, message: 'no', kind });
    await drainMergeFirst();
    expect((await bench.issue()).state).toBe(state);
    expect((await take(bench)).taskType).toBe(taskType);
    expect(await bench.openDeadLetters()).toEqual([]);
  });

  test('sends the issue to a person when the branch is protected', async () => {
    await askForMerge();
    bench.host.nextResults.push({ status: 'refused', httpStatus: 405, message: 'review required', kind: 'protected' });
    await drainMergeFirst();
    expect((await bench.issue()).state).toBe('human-review-ready');
  });

  test('creates a dead letter for any other refusal, whose retry sends the merge again', async () => {
    await askForMerge();
    bench.host.nextResults.push({ status: 'refused', httpStatus: 403, message: 'forbidden', kind: 'other' });
    await drainMergeFirst();
    expect((await bench.issue()).state).toBe('merge-pending');
    const [deadLetter] = await bench.openDeadLetters();
    expect(deadLetter).toMatchObject({
      from_state: 'merge-pending',
      target_state: 'done',
      error: 'mergePR: forbidden',
    });
    expect(await retryDeadLetter(bench.engine, deadLetter?.id ?? '', OLGA)).toBe('merge-pending');
    await drain(bench);
    expect((await bench.issue()).state).toBe('done');
    expect(await bench.openDeadLetters()).toEqual([]);
  });
});

/** The planned result is for the merge, so the other lanes are sent first. */
async function drainMergeFirst(): Promise<void> {
  const planned = bench.host.nextResults.splice(0);
  for (const { id } of await mine()) {
    const entry = (await bench.entries()).find((e) => e.id === id);
    if (entry?.lane === 'pr') bench.host.nextResults.push(...planned);
    await bench.send(id);
  }
}

describe('a dead letter', () => {
  /** A stored cause that the workflow refuses: an approval of an issue that is not in review. */
  const createDeadLetter = async () => {
    const task = await take(bench);
    await bench.database.db
      .updateTable('issues')
      .set({ state: 'new' })
      .where('tenant_id', '=', bench.tenantId)
      .execute();
    await finish(bench, task, goodOutcome('analyze', 1));
    const [deadLetter] = await bench.openDeadLetters();
    if (!deadLetter) throw new Error('no dead letter');
    return deadLetter;
  };

  test('records a transition without an edge and leaves the issue in its state', async () => {
    expect(await createDeadLetter()).toMatchObject({
      from_state: 'new',
      error: 'no edge leaves new on analyzed',
      agent_name: 'analyzer',
    });
    expect((await bench.issue()).state).toBe('new');
  });

  test('remains when refused again, and is retried when the edge exists', async () => {
    const { id } = await createDeadLetter();
    expect(await retryDeadLetter(bench.engine, id, OLGA)).toBeUndefined();
    await bench.database.db
      .updateTable('issues')
      .set({ state: 'analyzing' })
      .where('tenant_id', '=', bench.tenantId)
      .execute();
    expect(await retryDeadLetter(bench.engine, id, OLGA)).toBe('planning');
    await expect(retryDeadLetter(bench.engine, id, OLGA)).rejects.toMatchObject({ code: 'DEAD_LETTER_NOT_FOUND' });
  });

  test('two concurrent calls retry a dead letter once', async () => {
    const { id } = await createDeadLetter();
    await bench.database.db
      .updateTable('issues')
      .set({ state: 'analyzing' })
      .where('tenant_id', '=', bench.tenantId)
      .execute();
    const both = await Promise.allSettled([1, 2].map(() => retryDeadLetter(bench.engine, id, OLGA)));
    expect(both.map((one) => one.status).sort()).toEqual(['fulfilled', 'rejected']);
    expect((await take(bench)).taskType).toBe('plan');
  });
});
