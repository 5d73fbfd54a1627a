import { type Logger, type LoopMetrics, type Periodic, runPeriodically, type Tick } from '@pipeline/runtime';
import type { StoreWatch } from '@pipeline/store-watch';

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

/** Milliseconds between rounds; a function where a setting says how many. */
export type Pace = number | (() => number);

/** A loop that has not ended a round well for this long, beyond its pace, is stale. */
const STALE_AFTER_MS = 60_000;

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

  /** Adds a loop that runs while the store is connected. A tick that answers 'again' is followed at once by the next. */
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
      const late = lastRunAt === null || now - lastRunAt.getTime() > STALE_AFTER_MS + 3 * paceOf(kept);
      return this.#deps.storeWatch.isConnected && !late && consecutiveFailures < 3;
    });
  }

  #of(name: string): Kept {
    const kept = this.#kept.get(name);
    if (!kept) throw new Error(`there is no loop ${name}`);
    return kept;
  }
}

const paceOf = ({ everyMs }: Kept): number => (typeof everyMs === 'number' ? everyMs : everyMs());
