import type { Engine } from '@pipeline/engine';
import type { Tick } from '@pipeline/runtime';
import type { Notifications } from '@pipeline/store';
import { Lead } from './lead.ts';
import type { LoopSet, Pace } from './loop-set.ts';

interface LoopDeps {
  engine: Engine;
  loops: LoopSet;
  notifications: Notifications;
}

/** A row of the table of loops. A round that returns 'again' is followed by the next at once. */
export type Loop = {
  name: string;
  everyMs: Pace;
  /** Notification that brings the next round forward to now. */
  wakeOn?: Parameters<Notifications['on']>[0];
  /** Field of the readiness answer that is `stale` while this loop fails or is late. */
  health?: 'poll' | 'outbox' | 'stream';
  /** True = it also runs while the store is away. */
  isAlways?: true;
  /** Settles when what its rounds began in the background has ended. */
  landed?: () => Promise<unknown>;
} & (
  | {
      /** Work of every replica. */
      run: Tick;
      /** Leader lock that the function itself takes for what one replica does. */
      leader?: Lead;
    }
  | {
      /** Work of the one replica that holds the leader lock; its writes are fenced. */
      runAsLeader: (leading: Engine, signal: AbortSignal) => Promise<unknown>;
      /** Name of the leader lock. */
      leader: string;
    }
);

/** Adds the loops of a table, each with its leader lock and its wake-up. */
export function addLoops(table: readonly Loop[], { engine, loops, notifications }: LoopDeps): void {
  for (const row of table) {
    const { name, everyMs, wakeOn } = row;
    const tick =
      'runAsLeader' in row ? leaderTick(row.runAsLeader, engine, new Lead(notifications, row.leader)) : row.run;
    const loop = row.isAlways ? loops.addAlways(name, everyMs, tick) : loops.add(name, everyMs, tick);
    if (wakeOn) notifications.on(wakeOn, () => loop.wake());
  }
}

const leaderTick =
  (run: (leading: Engine, signal: AbortSignal) => Promise<unknown>, engine: Engine, lead: Lead): Tick =>
  (signal) =>
    lead.run(engine, (leading) => run(leading, signal));
