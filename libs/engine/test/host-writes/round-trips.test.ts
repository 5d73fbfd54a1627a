import { beforeAll, expect, test } from '@jest/globals';
import { beginSending, sendable, settle } from '@pipeline/engine';
import { testDatabase } from '@pipeline/testing';
import { applyHostIssue, type Bench, hostIssue, makeBench } from '../harness.ts';

const database = testDatabase();
let bench: Bench;
/** Statements by the packet in which they are sent. */
const packets: string[][] = [];
let open: string[] | null = null;

beforeAll(async () => {
  const store = database.open({
    onStatement: (_pool, text) => {
      if (open === null) {
        open = [];
        packets.push(open);
        process.nextTick(() => {
          open = null;
        });
      }
      open.push(text);
    },
  });
  bench = await makeBench(store);
});

/** @returns the statements and packets that the work sends. */
async function costOf<T>(work: Promise<T>): Promise<{ result: T; statements: number; packets: number }> {
  packets.length = 0;
  const result = await work;
  return { result, statements: packets.flat().length, packets: packets.length };
}

test('a host write begins and settles in two round trips each', async () => {
  await applyHostIssue(bench, hostIssue(1));
  const entries = await sendable(bench.engine, 'sandbox', 10);
  const types = [];
  for (const { tenant_id, id } of entries) {
    const begun = await costOf(beginSending(bench.engine, tenant_id, id));
    if (!begun.result) throw new Error(`entry ${id} did not begin`);
    types.push(begun.result.projection.action.type);
    // Start, begin, commit.
    expect(begun).toMatchObject({ statements: 3, packets: 2 });
    const result = { status: 'ok' as const, repeated: false, created: null };
    const settled = await costOf(settle(bench.engine, begun.result, result));
    // Start, issue, entry, context; attempt, entry, commit.
    expect(settled).toMatchObject({ statements: 7, packets: 2 });
  }
  await bench.engine.store.close();
  expect(types.sort()).toEqual(['swapLabels', 'updateComment']);
});
