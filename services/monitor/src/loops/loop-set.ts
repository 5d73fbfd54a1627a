import { type Logger, type LoopMetrics, type Periodic, runPeriodically, type Tick } from '@pipeline/runtime';
import type { StoreWatch } from '@pipeline/store';

interface LoopSetDeps {
  storeWatch: StoreWatch;
  log: Logger;
  metrics: LoopMetrics;
  now: () => Date;
}

interface Kept {
  loop: Periodic;
  everyMs: Pace;
}

/** Milliseconds between rounds; a function where a setting has the value. */
export type Pace = number | (() => number);

/** A loop that has ended no round for this long, beyond three times its pace, is late. */
const STALE_AFTER_MS = 60_000;

/** So many failed rounds in a row are no accident: the process is not ready. */
const FAILING_AFTER = 3;

/** A loop that does not do its work. `late` = no round has ended for too long: it hangs, or the process does. */
export interface LoopTrouble {
  loop: string;
  problem: 'failing' | 'late';
  /** Failed rounds in a row. */
  failures: number;
  since: Date;
  error: string | null;
}

/** The loops of this process. Those that need the store rest while it is away; when it is back all go on at once. */
export class LoopSet {
  readonly #deps: LoopSetDeps;
  readonly #kept = new Map<string, Kept>();

  constructor(deps: LoopSetDeps) {
    this.#deps = deps;
    deps.storeWatch.onConnected(() => this.wakeAll());
  }

  /** Brings the next round of each forward to now. */
  wakeAll(): void {
    for (const { loop } of this.#kept.values()) loop.wake();
  }

  /** Brings the next round of one loop forward to now. */
  wake(name: string): void {
    this.#of(name).loop.wake();
  }

  /**
   * Adds a loop that runs while the store is connected. A tick that answers 'again' is followed at once by the next.
   */
  add(name: string, everyMs: Pace, tick: Tick): Periodic {
    const { storeWatch } = this.#deps;
    return this.addAlways(name, everyMs, async (signal) => (storeWatch.isConnected ? tick(signal) : undefined));
  }

  /** Adds a loop that runs also while the store is away. */
  addAlways(name: string, everyMs: Pace, tick: Tick): Periodic {
    const { log, metrics, now } = this.#deps;
    const loop = runPeriodically(tick, { name, everyMs, log, metrics, now });
    this.#kept.set(name, { loop, everyMs });
    return loop;
  }

  /** One round of a loop now, whether or not it was started. @throws what the round threw. */
  async tick(name: string): Promise<void> {
    await this.#of(name).loop.tick();
  }

  /** The watch over the store is one of them. */
  start(): void {
    this.#deps.storeWatch.loop.start();
    for (const { loop } of this.#kept.values()) loop.start();
  }

  /** Settles when no tick runs and no timer is armed. */
  async stop(): Promise<void> {
    const loops = [...this.#kept.values()].map(({ loop }) => loop);
    await Promise.all([this.#deps.storeWatch.loop, ...loops].map((loop) => loop.stop()));
  }

  /** True while each of these ends its rounds well and in time. */
  isFresh(names: readonly string[]): boolean {
    const now = this.#deps.now().getTime();
    return names.every((name) => {
      const kept = this.#of(name);
      const { lastRunAt, consecutiveFailures } = kept.loop.state;
      const late = lastRunAt === null || now - lastRunAt.getTime() > patienceWith(kept);
      return this.#deps.storeWatch.isConnected && !late && consecutiveFailures < FAILING_AFTER;
    });
  }

  /** Loops whose last round failed, and those that are late. None while the store is away: that is its own problem. */
  troubles(): LoopTrouble[] {
    if (!this.#deps.storeWatch.isConnected) return [];
    return [...this.#kept].flatMap(([name, kept]) => troubleOf(name, kept, this.#deps.now()) ?? []);
  }

  /** Those of them that make the process unfit for traffic. */
  problems(): LoopTrouble[] {
    return this.troubles().filter(({ problem, failures }) => problem === 'late' || failures >= FAILING_AFTER);
  }

  get names(): string[] {
    return [...this.#kept.keys()];
  }

  #of(name: string): Kept {
    const kept = this.#kept.get(name);
    if (!kept) throw new Error(`unknown loop ${name}`);
    return kept;
  }
}

const paceOf = ({ everyMs }: Kept): number => (typeof everyMs === 'number' ? everyMs : everyMs());

const patienceWith = (kept: Kept): number => STALE_AFTER_MS + 3 * paceOf(kept);

function troubleOf(loop: string, kept: Kept, now: Date): LoopTrouble | null {
  const { lastRunAt, startedAt, consecutiveFailures: failures, failingSince, lastError } = kept.loop.state;
  const error = lastError === null ? null : String(lastError);
  const since = lastRunAt ?? startedAt;
  // One that was never started is not judged.
  const isLate = since !== null && startedAt !== null && now.getTime() - since.getTime() > patienceWith(kept);
  if (isLate) return { loop, problem: 'late', failures, since, error };
  if (failures === 0 || failingSince === null) return null;
  return { loop, problem: 'failing', failures, since: failingSince, error };
}
