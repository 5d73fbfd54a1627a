import type { Engine, Leader } from '@pipeline/engine';
import type { Tick } from '@pipeline/runtime';
import type { Notifications } from '@pipeline/store';
import type { LoopSet, Pace } from './loop-set.ts';

interface LoopDeps {
  engine: Engine;
  leader: Leader;
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
    }
  | {
      /** Work of the leader. */
      runAsLeader: (leading: Engine, signal: AbortSignal) => Promise<unknown>;
    }
);

/** Adds the loops of a table, each with its wake-up. */
export function addLoops(table: readonly Loop[], { engine, leader, loops, notifications }: LoopDeps): void {
  for (const row of table) {
    const { name, everyMs, wakeOn } = row;
    const tick: Tick =
      'runAsLeader' in row ? (signal) => leader.run(engine, (leading) => row.runAsLeader(leading, signal)) : row.run;
    const loop = row.isAlways ? loops.addAlways(name, everyMs, tick) : loops.add(name, everyMs, tick);
    if (wakeOn) notifications.on(wakeOn, () => loop.wake());
  }
}
