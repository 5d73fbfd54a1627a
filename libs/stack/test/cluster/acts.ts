import { expect } from '@jest/globals';
import type { HostEvent } from '@pipeline/domain';
import { type Acts, callsAskedAgain, type Pass, type Stage } from '@pipeline/testing/model';
import { checkAgreement } from './agreement.ts';
import { operatorCalls, postDelivery, workerCalls } from './calls.ts';
import { type Cluster, Unanswered } from './cluster.ts';
import { deliveryOf } from './payload.ts';

/** Loops about issues and their lists. */
const UPKEEP = [
  ...['reclaim', 'stalled', 'release-due', 'release-waiting', 'auto-unblock', 'worker-silence', 'budgets', 'settings'],
  ...[
    'stream',
    'issue-counts',
    'rollups',
    'dead-letters',
    'blocked-issues',
    'task-queue',
    'label-walk',
    'parent-watch',
  ],
];
const HEALING = ['settings', 'queue-healing'];
const OUTBOX = ['projections-sandbox'];
/** A pass that wrote something may have queued more writes. */
const ROUNDS = 3;

/** Performs every action over HTTP, on either replica. */
export function clusterActs(cluster: Cluster, stage: Stage, nextId: () => string): Acts {
  const { state } = stage.host;
  /** Repeats a call until a replica responds: the second one may crash as well. */
  const retried = async <T>(call: () => Promise<T>, again: () => Promise<T> = call): Promise<T> => {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof Unanswered)) throw error;
      return retried(again);
    }
  };
  const deliver = async (event: HostEvent) => {
    const delivery = deliveryOf(event, event.kind === 'comment' ? state.issues.get(event.issueNumber) : undefined);
    const id = nextId();
    await retried(() => postDelivery(cluster, id, delivery));
    // Hosts redeliver.
    if (cluster.flip()) expect(await retried(() => postDelivery(cluster, id, delivery))).toBe(false);
    await cluster.tickMonitors(['inbox']);
  };
  const reimplement = async (number: number) => {
    state.say(number, '/svc:reimplement', 'anna');
    const comment = state.webhooks.pop();
    if (comment) await deliver(comment);
  };
  return {
    ...callsAskedAgain({ ...workerCalls(cluster), ...operatorCalls(cluster, reimplement) }, retried),
    async deliver(events) {
      for (const event of events) await deliver(event);
    },
    async poll() {
      const { clock } = stage.database;
      clock.now = new Date((clock.now?.getTime() ?? 0) + 1_000);
      await cluster.tickMonitors(['intake-poll']);
    },
    send: (pass) => send(cluster, pass),
    async upkeep() {
      await cluster.tickMonitors(UPKEEP);
      await cluster.tickApis(HEALING);
      if (cluster.flip() && cluster.flip()) await checkAgreement(cluster, stage.database);
    },
    crash: (moment) => cluster.crash(moment),
  };
}

const begunBy = ({ monitors }: Cluster): number =>
  monitors.reduce((sum, { service }) => sum + service.connection.begun, 0);

async function send(cluster: Cluster, { count, death, dying }: Pass): Promise<number> {
  if (death !== 'never') return sendAndDie(cluster, { death, dying });
  let begun = 0;
  for (let round = 0; round < (count < ROUNDS ? 1 : ROUNDS); round += 1) {
    const before = begunBy(cluster);
    await cluster.tickMonitors(OUTBOX);
    if (begunBy(cluster) <= before) break;
    begun += begunBy(cluster) - before;
  }
  return begun;
}

/** The leader crashes during its writes, or it loses the leader lock and gets their responses afterwards. */
async function sendAndDie(cluster: Cluster, { death, dying }: Omit<Pass, 'count'>): Promise<number> {
  await cluster.whole();
  const before = begunBy(cluster);
  for (const monitor of cluster.monitors) {
    const { connection, pipeline } = monitor.service;
    connection.fault = { written: death !== 'before the write', writes: dying };
    const hangs = await Promise.race([connection.hung().then(() => true), monitor.tick(OUTBOX).then(() => false)]);
    connection.fault.writes = 0;
    if (!hangs) continue;
    const begun = begunBy(cluster) - before;
    if (death !== 'two at once') monitor.die();
    else {
      const { up } = await monitor.service.loseLeaderLock();
      for (const other of cluster.monitors) if (other !== monitor) await other.tick(OUTBOX);
      connection.release(false);
      await pipeline.landed(OUTBOX);
      await Promise.race([up(), monitor.died]);
    }
    return begun;
  }
  return begunBy(cluster) - before;
}
