import { beforeEach, describe, expect, test } from '@jest/globals';
import { beginSending, retryDeadLetter, sendable, settle } from '@pipeline/engine';
import { findIssue, openDeadLetters } from '@pipeline/store';
import { testDatabase } from '@pipeline/testing';
import {
  type Bench,
  drain,
  finish,
  goodOutcome,
  hostIssue,
  listsAgreeAfterEach,
  makeBench,
  take,
  tell,
  workUntil,
} from './harness.ts';

const database = testDatabase();
listsAgreeAfterEach(database);
const OPERATOR = { type: 'operator' as const, id: 'olga', agent: null };
let bench: Bench;
let number = 0;

beforeEach(async () => {
  number += 1;
  database.clock.now = new Date('2026-03-01T00:00:00Z');
  bench = await makeBench(database.store, { slug: `outbox-${number}/shop` });
  await tell(bench, hostIssue(1));
});

const later = (seconds: number) => {
  database.clock.now = new Date((database.clock.now?.getTime() ?? 0) + seconds * 1_000);
};
const issue = async () => {
  const row = await findIssue(database.db, bench.tenantId, bench.repo.id, 1);
  if (!row) throw new Error('no issue');
  return row;
};
const entries = () =>
  database.db.selectFrom('projections').selectAll().where('repo_id', '=', bench.repo.id).orderBy('id').execute();
const mine = async () =>
  (await sendable(bench.engine, 'sandbox', 100)).filter((entry) => entry.tenant_id === bench.tenantId);
const letters = async () =>
  (await openDeadLetters(database.db, { limit: 100, offset: 0 })).filter(
    ({ repoOwner }) => repoOwner === `outbox-${number}`,
  );
/** Brings the issue to where its merge is asked for, with the merge still in the outbox. */
const askForMerge = async () => {
  await workUntil(bench, 'merge-pending');
  await drain(bench);
  await finish(bench, await take(bench), goodOutcome('merge', 1));
};

describe('the outbox', () => {
  test('sends one entry per lane of an issue at a time, oldest first', async () => {
    expect(await mine()).toHaveLength(2);
    const lanes = (await entries()).map((entry) => entry.lane);
    expect(new Set(lanes)).toEqual(new Set(['labels', 'talk']));
  });

  test('a failed entry holds its own lane and no other', async () => {
    bench.host.nextResults.push({ status: 'refused', httpStatus: 422, message: 'no', kind: 'other' });
    const [head] = await mine();
    await sendOne(head?.id ?? 0);
    const failed = (await entries()).find((entry) => entry.status === 'failed');
    await finish(bench, await take(bench), goodOutcome('analyze', 1));
    const open = await Promise.all(
      (await mine()).map(async ({ id }) => (await entries()).find((e) => e.id === id)?.lane),
    );
    expect(open).not.toContain(failed?.lane);
    expect(open.length).toBeGreaterThan(0);
  });

  test('a rate limit waits as long as the host says and costs no attempt', async () => {
    const retryAt = '2026-03-01T00:10:00.000Z';
    bench.host.nextResults.push({ status: 'rate-limited', retryAt, message: 'slow down' });
    const [head] = await mine();
    await sendOne(head?.id ?? 0);
    const entry = (await entries()).find(({ id }) => id === head?.id);
    expect(entry).toMatchObject({ status: 'pending', attempts: 0, retry_after: retryAt });
    later(601);
    expect((await mine()).map(({ id }) => id)).toContain(head?.id);
  });

  test('an attempt that ended in doubt, or was cut off, says so to the next one', async () => {
    bench.host.nextResults.push({ status: 'failed', message: 'socket hang up', ambiguous: true });
    const [head] = await mine();
    await sendOne(head?.id ?? 0);
    later(40);
    const again = await beginSending(bench.engine, bench.tenantId, head?.id ?? 0);
    expect(again?.mayHaveHappened).toBe(true);
    const afterCrash = await beginSending(bench.engine, bench.tenantId, head?.id ?? 0);
    expect(afterCrash?.mayHaveHappened).toBe(true);
  });

  test('gives up after eight attempts', async () => {
    const [head] = await mine();
    for (let i = 0; i < 8; i += 1) {
      bench.host.nextResults.push({ status: 'failed', message: 'down', ambiguous: false });
      await sendOne(head?.id ?? 0);
      later(4_000);
    }
    expect((await entries()).find(({ id }) => id === head?.id)).toMatchObject({ status: 'failed', attempts: 8 });
  });

  test('rewrites a status comment that still waits instead of adding another', async () => {
    await finish(bench, await take(bench), goodOutcome('analyze', 1));
    await finish(bench, await take(bench), goodOutcome('plan', 1));
    const talk = (await entries()).filter((entry) => entry.lane === 'talk');
    expect(talk).toHaveLength(1);
    expect(JSON.stringify(talk[0]?.action)).toContain('make the change');
  });
});

async function sendOne(id: number): Promise<void> {
  const sending = await beginSending(bench.engine, bench.tenantId, id);
  if (!sending) throw new Error('not pending');
  const { projection, repo, mayHaveHappened } = sending;
  const result = await bench.host.execute(repo, 1, projection.action, { mayHaveHappened });
  await settle(bench.engine, sending, result);
}

describe('what the host answers to a merge', () => {
  test.each([
    ['conflict', 'changes-requested', 'develop'],
    ['not-ready', 'in-review', 'review'],
  ] as const)('%s sends the issue to %s with a task', async (kind, state, taskType) => {
    await askForMerge();
    bench.host.nextResults.push({ status: 'refused', httpStatus: 405, message: 'no', kind });
    await drainMergeFirst();
    expect((await issue()).state).toBe(state);
    expect((await take(bench)).taskType).toBe(taskType);
    expect(await letters()).toEqual([]);
  });

  test('protected asks for a person', async () => {
    await askForMerge();
    bench.host.nextResults.push({ status: 'refused', httpStatus: 405, message: 'review required', kind: 'protected' });
    await drainMergeFirst();
    expect((await issue()).state).toBe('human-review-ready');
  });

  test('any other refusal is a dead letter; its retry sends the merge again and ends the issue', async () => {
    await askForMerge();
    bench.host.nextResults.push({ status: 'refused', httpStatus: 403, message: 'forbidden', kind: 'other' });
    await drainMergeFirst();
    expect((await issue()).state).toBe('merge-pending');
    const [letter] = await letters();
    expect(letter).toMatchObject({ fromState: 'merge-pending', targetState: 'done', error: 'mergePR: forbidden' });
    expect(await retryDeadLetter(bench.engine, letter?.id ?? '', OPERATOR)).toBe('merge-pending');
    await drain(bench);
    expect((await issue()).state).toBe('done');
    expect(await letters()).toEqual([]);
  });
});

/** The planned answer is for the merge, so the other lanes go first. */
async function drainMergeFirst(): Promise<void> {
  const planned = bench.host.nextResults.splice(0);
  for (const { id } of await mine()) {
    const entry = (await entries()).find((e) => e.id === id);
    if (entry?.lane === 'pr') bench.host.nextResults.push(...planned);
    await sendOne(id);
  }
}

describe('a dead letter', () => {
  /** A stored cause that the workflow refuses: an approval of an issue that is not in review. */
  const bury = async () => {
    const task = await take(bench);
    await database.db.updateTable('issues').set({ state: 'new' }).where('tenant_id', '=', bench.tenantId).execute();
    await finish(bench, task, goodOutcome('analyze', 1));
    const [letter] = await letters();
    if (!letter) throw new Error('no letter');
    return letter;
  };

  test('holds a transition that has no edge, and the issue stays where it was', async () => {
    expect(await bury()).toMatchObject({
      fromState: 'new',
      error: 'no edge leaves new on analyzed',
      agentName: 'analyzer',
    });
    expect((await issue()).state).toBe('new');
  });

  test('refused again it stays; once the transition is possible a retry makes it', async () => {
    const { id } = await bury();
    expect(await retryDeadLetter(bench.engine, id, OPERATOR)).toBeUndefined();
    await database.db
      .updateTable('issues')
      .set({ state: 'analyzing' })
      .where('tenant_id', '=', bench.tenantId)
      .execute();
    expect(await retryDeadLetter(bench.engine, id, OPERATOR)).toBe('planning');
    await expect(retryDeadLetter(bench.engine, id, OPERATOR)).rejects.toMatchObject({ code: 'DEAD_LETTER_NOT_FOUND' });
  });

  test('of two retries at once one makes the transition, the other finds no letter', async () => {
    const { id } = await bury();
    await database.db
      .updateTable('issues')
      .set({ state: 'analyzing' })
      .where('tenant_id', '=', bench.tenantId)
      .execute();
    const both = await Promise.allSettled([1, 2].map(() => retryDeadLetter(bench.engine, id, OPERATOR)));
    expect(both.map((one) => one.status).sort()).toEqual(['fulfilled', 'rejected']);
    expect((await take(bench)).taskType).toBe('plan');
  });
});
