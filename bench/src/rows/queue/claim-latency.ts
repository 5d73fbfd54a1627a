import { inLanes } from '../../measure/lanes.ts';
import { ClaimLog, claimBatch, enqueue, fillQueue, removeClaimed } from '../../ours/queue.ts';
import { type OurStore, openOurStore } from '../../ours/store.ts';
import type { Bench, Case, Contender, Row } from '../../runner/model.ts';
import { median } from '../../runner/verdict.ts';
import { openSnapshotCase } from './open-snapshot.ts';

const CLAIMERS = 4;

/**
 * Goal 8: what a long queue, and what a snapshot held open by somebody's long query, do to claims. Each is compared
 * with itself, in this process, by the store's own statements; 200 repos, one type of task.
 * First: the median time of a claim of one task, 4 claimers, with a million tasks ready and with ten thousand.
 * Second: see open-snapshot.ts.
 * Checked: nothing is claimed twice; the queue is filled up again between the samples.
 */
export const claimLatencyRow: Row = {
  goal: 8,
  title: 'claims in a long queue',
  open: async (bench) => ({ cases: [await backlog(bench), await openSnapshotCase(bench)] }),
};

async function backlog(bench: Bench): Promise<Case> {
  const many = bench.quick ? 100_000 : 1_000_000;
  const few = 10_000;
  return {
    title: `claim p50, ${many.toLocaleString('en-US')} ready / ${few.toLocaleString('en-US')} ready`,
    unit: 'ms',
    ours: await queueOf(bench, 'bench_ready_many', many),
    anchors: [{ contender: await queueOf(bench, 'bench_ready_few', few), bound: { atMost: 1.1 } }],
  };
}

async function queueOf(bench: Bench, name: string, tasks: number): Promise<Contender> {
  const ours = await openOurStore(bench, name);
  await fillQueue(ours, tasks);
  const claims = bench.quick ? 400 : 1_000;
  return { name: `${tasks.toLocaleString('en-US')} ready`, sample: () => claimLatency(ours, claims) };
}

async function claimLatency(ours: OurStore, count: number) {
  const log = new ClaimLog();
  const times: number[] = [];
  const claimed: Awaited<ReturnType<typeof claimBatch>> = [];
  // Opens the connections, which pools drop while others are measured.
  const warmUp = await Promise.all(Array.from({ length: CLAIMERS }, () => claimBatch(ours, 1)));
  await inLanes(CLAIMERS, async () => {
    const began = performance.now();
    const claims = await claimBatch(ours, 1);
    times.push(performance.now() - began);
    log.add(claims);
    claimed.push(...claims);
    return times.length < count;
  });
  const all = [...claimed, ...warmUp.flat()];
  await removeClaimed(ours, all);
  await enqueue(ours, 0, all.length);
  return { value: median(times), cpu: null };
}
