import { beforeEach, expect, test } from '@jest/globals';
import { report } from '@pipeline/engine';
import { deleteOldProjections, deleteOldRuns } from '@pipeline/store';
import { testDatabase } from '@pipeline/testing';
import {
  applyHostIssue,
  type Bench,
  drain,
  finish,
  goodOutcome,
  hostIssue,
  makeBench,
  paid,
  refOf,
  take,
} from '../harness.ts';

const database = testDatabase();
const DAY_MS = 24 * 60 * 60_000;
let bench: Bench;

beforeEach(async () => {
  database.clock.now = new Date('2026-03-01T00:00:00Z');
  bench = await makeBench(database.store);
});
const later = (days: number) => {
  database.clock.now = new Date((database.clock.now?.getTime() ?? 0) + days * DAY_MS);
};
const count = async (table: 'runs' | 'agent_invocations' | 'artefacts' | 'projection_attempts') => {
  const { n } = await database.db
    .selectFrom(table)
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow();
  return n;
};
const statuses = async () => {
  const rows = await database.db.selectFrom('projections').select('status').orderBy('id').execute();
  return rows.map(({ status }) => status);
};

test('deletes old runs with their model calls but not their artefacts, and settled projections but not failed ones', async () => {
  await applyHostIssue(bench, hostIssue(1));
  const analyzed = await take(bench);
  const artefacts = [{ kind: 'note', mediaType: 'text/plain', title: 'n', body: 'b' }];
  const body = { ...goodOutcome('analyze', 1), artefacts, findings: [], invocations: [paid(1)] };
  await report(bench.engine, refOf(bench, analyzed), body as Parameters<typeof report>[2]);
  bench.host.nextResults.push({ status: 'refused', kind: 'other', httpStatus: 403, message: 'no' });
  await drain(bench);
  later(50);
  await finish(bench, await take(bench), goodOutcome('plan', 1));
  // Claimed now, and in progress for longer than the retention.
  await take(bench);
  const before = await statuses();
  later(45);

  expect(await deleteOldRuns(database.store.db, 90)).toBe(false);
  expect([await count('runs'), await count('agent_invocations'), await count('artefacts')]).toEqual([2, 0, 1]);
  expect(await deleteOldRuns(database.store.db, 40)).toBe(false);
  const left = await database.db.selectFrom('runs').select('status').execute();
  expect(left).toEqual([{ status: 'claimed' }]);

  expect(await deleteOldProjections(database.store.db, 90)).toBe(false);
  expect(before).toContain('complete');
  expect(before).toContain('failed');
  expect(await statuses()).toEqual(before.filter((status) => status !== 'complete'));
  expect(await count('projection_attempts')).toBe(1);
});
