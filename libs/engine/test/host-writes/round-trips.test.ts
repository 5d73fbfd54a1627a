import { beforeEach, expect, test } from '@jest/globals';
import type { ExecuteResult } from '@pipeline/domain';
import { beginSending, sendable, settle } from '@pipeline/engine';
import { testDatabase } from '@pipeline/testing';
import { applyHostIssue, hostIssue, makeBench } from '../harness.ts';
import { countingStore } from '../statement-cost.ts';

const database = testDatabase();

beforeEach(async () => {
  await database.db.deleteFrom('projection_attempts').execute();
  await database.db.deleteFrom('projections').execute();
});

const OK: ExecuteResult = { status: 'ok', repeated: false, created: null };

test('a host write begins in two round trips and settles in one when nothing follows from it', async () => {
  const { store, costOf } = countingStore(database);
  const bench = await makeBench(store);
  await applyHostIssue(bench, hostIssue(1));
  const entries = await sendable(bench.engine, 'sandbox', 10);
  const types = [];
  for (const { tenant_id, id } of entries) {
    const begun = await costOf(beginSending(bench.engine, tenant_id, id));
    if (!begun.result) throw new Error(`entry ${id} did not begin`);
    types.push(begun.result.projection.action.type);
    // Start, begin, commit.
    expect(begun).toMatchObject({ statements: 3, packets: 2 });
    const settled = await costOf(settle(bench.engine, begun.result, OK));
    expect(settled).toMatchObject({ statements: 1, packets: 1 });
  }
  await store.close();
  expect(types.sort()).toEqual(['swapLabels', 'updateComment']);
});

test('concurrent host writes share the statements that begin and settle them', async () => {
  const { store, costOf } = countingStore(database);
  const bench = await makeBench(store);
  for (const number of [11, 12, 13]) await applyHostIssue(bench, hostIssue(number));
  const entries = await sendable(bench.engine, 'sandbox', 10);
  expect(entries).toHaveLength(6);
  const begun = await costOf(Promise.all(entries.map((entry) => beginSending(bench.engine, bench.tenantId, entry.id))));
  expect(begun).toMatchObject({ statements: 3, packets: 2 });
  const sendings = begun.result.filter((sending) => sending !== null);
  expect(sendings.map(({ projection }) => projection.id)).toEqual(entries.map(({ id }) => id));
  const settled = await costOf(Promise.all(sendings.map((sending) => settle(bench.engine, sending, OK))));
  expect(settled).toMatchObject({ statements: 1, packets: 1 });
  expect(await sendable(bench.engine, 'sandbox', 10)).toEqual([]);
  await store.close();
});

test('settles the others when one of the results that came together cannot be stored', async () => {
  const bench = await makeBench(database.store);
  for (const number of [21, 22]) await applyHostIssue(bench, hostIssue(number));
  const entries = await sendable(bench.engine, 'sandbox', 10);
  const begun = await Promise.all(entries.map((entry) => beginSending(bench.engine, bench.tenantId, entry.id)));
  const sendings = begun.filter((sending) => sending !== null);
  // A character that jsonb refuses.
  const results = sendings.map((_, at): ExecuteResult => (at === 1 ? { ...OK, created: { url: '\0' } } : OK));
  const ends = await Promise.allSettled(
    sendings.map((sending, at) => settle(bench.engine, sending, results[at] ?? OK)),
  );
  expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
  const rows = await database.db.selectFrom('projections').select(['status', 'attempts']).orderBy('id').execute();
  const [complete, inDoubt] = [
    { status: 'complete', attempts: 1 },
    { status: 'pending', attempts: 0 },
  ];
  expect(rows).toEqual([complete, inDoubt, complete, complete]);
});

test('sends an entry once that is begun twice at a time', async () => {
  const bench = await makeBench(database.store);
  await applyHostIssue(bench, hostIssue(31));
  const [entry] = await sendable(bench.engine, 'sandbox', 1);
  const begin = () => beginSending(bench.engine, bench.tenantId, entry?.id ?? 0);
  expect(await Promise.all([begin(), begin()])).toEqual([expect.objectContaining({ mayHaveHappened: false }), null]);
});
