import { expect } from '@jest/globals';
import type { HostEvent } from '@pipeline/domain';
import { type Acts, callsAskedAgain, type Pass, type Stage } from '@pipeline/engine/model';
import { checkAgreement } from './agreement.ts';
import { bring, operatorCalls, workerCalls } from './calls.ts';
import { deliveryOf } from './payload.ts';
import { type Twins, Unanswered } from './twins.ts';

/** What runs by itself anywhere, as far as it is about issues and what is shown of them. */
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
/** Whether there is more to write shows only when something was written. */
const ROUNDS = 3;

/** Every act over HTTP, through the one replica or the other. */
export function twinActs(twins: Twins, stage: Stage, nextId: () => string): Acts {
  const { state } = stage.host;
  /** Until somebody answers: who is asked again may die over it as well. */
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
    await retried(() => bring(twins, id, delivery));
    // Hosts repeat what they think was not heard.
    if (twins.flip()) expect(await retried(() => bring(twins, id, delivery))).toBe(false);
    await twins.tickMonitors(['inbox']);
  };
  const reimplement = async (number: number) => {
    state.say(number, '/svc:reimplement', 'anna');
    const said = state.webhooks.pop();
    if (said) await deliver(said);
  };
  return {
    ...callsAskedAgain({ ...workerCalls(twins), ...operatorCalls(twins, reimplement) }, retried),
    async deliver(events) {
      for (const event of events) await deliver(event);
    },
    async poll() {
      const { clock } = stage.database;
      clock.now = new Date((clock.now?.getTime() ?? 0) + 1_000);
      await twins.tickMonitors(['intake-poll']);
    },
    send: (pass) => send(twins, pass),
    async upkeep() {
      await twins.tickMonitors(UPKEEP);
      await twins.tickApis(HEALING);
      if (twins.flip() && twins.flip()) await checkAgreement(twins, stage.database);
    },
    crash: (moment) => twins.crash(moment),
  };
}

const begunBy = ({ monitors }: Twins): number => monitors.reduce((sum, { service }) => sum + service.line.begun, 0);

async function send(twins: Twins, { count, death, dying }: Pass): Promise<number> {
  if (death !== 'never') return sendAndDie(twins, { death, dying });
  let begun = 0;
  for (let round = 0; round < (count < ROUNDS ? 1 : ROUNDS); round += 1) {
    const before = begunBy(twins);
    await twins.tickMonitors(OUTBOX);
    if (begunBy(twins) <= before) break;
    begun += begunBy(twins) - before;
  }
  return begun;
}

/** The one that leads dies over its writes; or it loses its lead while they are under way, and hears of them late. */
async function sendAndDie(twins: Twins, { death, dying }: Omit<Pass, 'count'>): Promise<number> {
  await twins.whole();
  const before = begunBy(twins);
  for (const monitor of twins.monitors) {
    const { line, pipeline } = monitor.service;
    line.fate = { written: death !== 'before the write', writes: dying };
    const hangs = await Promise.race([line.hung().then(() => true), monitor.tick(OUTBOX).then(() => false)]);
    line.fate.writes = 0;
    if (!hangs) continue;
    const begun = begunBy(twins) - before;
    if (death !== 'two at once') monitor.die();
    else {
      const { up } = await monitor.service.loseLeads();
      for (const other of twins.monitors) if (other !== monitor) await other.tick(OUTBOX);
      line.release(false);
      await pipeline.landed();
      await Promise.race([up(), monitor.died]);
    }
    return begun;
  }
  return begunBy(twins) - before;
}
