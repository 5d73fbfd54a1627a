import type { Logger, LoopMetrics } from '@pipeline/runtime';
import { type Periodic, runPeriodically } from '@pipeline/runtime/periodic';
import { withDeadline } from '@pipeline/runtime/sleep';
import { sql } from 'kysely';
import type { Store } from '../driver/connection.ts';

const EVERY_MS = 2_000;
const DEADLINE_MS = 2_000;
/** Positions of the primary that the replica has not reached: more than the longest lag that may be configured needs. */
const MOST_POSITIONS = 2_000;

interface ReplicaWatchOptions {
  store: Store;
  /** A replica that lags more is not read. */
  maxLagSeconds: number;
  log: Logger;
  metrics?: LoopMetrics;
  /** Milliseconds, monotonic; default `performance.now`. */
  clock?: () => number;
}

/**
 * Measures how far the replica for reads is behind, and sends reads to the primary while it is behind the limit or gone.
 * The positions of the primary are compared with what the replica has applied, so an idle primary is no lag, and a
 * replica whose connection to the primary is broken is behind. Without a replica it does nothing.
 */
export class ReplicaWatch {
  readonly loop: Periodic;
  readonly #options: ReplicaWatchOptions;
  readonly #clock: () => number;
  /** Positions of the primary that the replica had not applied, with the time when they were read, oldest first. */
  #pending: { position: string; at: number }[] = [];
  #lagSeconds: number | null = null;
  #wasChecked = false;

  constructor(options: ReplicaWatchOptions) {
    this.#options = options;
    this.#clock = options.clock ?? (() => performance.now());
    const { log, metrics } = options;
    this.loop = runPeriodically(() => this.check(), {
      name: 'replica-watch',
      everyMs: EVERY_MS,
      log,
      ...(metrics && { metrics }),
    });
  }

  /** Seconds that the replica is behind, measured to the last check; null while it cannot be read, or without one. */
  get lagSeconds(): number | null {
    return this.#lagSeconds;
  }

  /** True = reads use the replica. */
  get isUsable(): boolean {
    return this.#options.store.replica?.state.isUsable ?? false;
  }

  /** One short statement on each server. An unreachable primary changes nothing: StoreWatch handles it. */
  async check(): Promise<void> {
    const { replica, fleet } = this.#options.store;
    if (replica === null) return;
    const position = await sql<{ position: string }>`select pg_current_wal_lsn()::text as position`.execute(fleet).then(
      ({ rows }) => rows[0]?.position,
      () => undefined,
    );
    if (position === undefined) return;
    this.#pending.push({ position, at: this.#clock() });
    try {
      this.#lagSeconds = await withDeadline(this.#measure(), DEADLINE_MS, 'reading the position of the replica');
      this.#become(this.#lagSeconds <= this.#options.maxLagSeconds, `it is ${this.#lagSeconds.toFixed(1)} s behind`);
    } catch (error) {
      this.#lagSeconds = null;
      this.#become(false, String(error));
    }
    // The newest position is enough to see that it has caught up, the oldest to see since when it has not.
    if (this.#pending.length > MOST_POSITIONS) this.#pending.splice(1, this.#pending.length - MOST_POSITIONS);
  }

  /** Age of the oldest position that the replica has not applied, in seconds. */
  async #measure(): Promise<number> {
    const { replica } = this.#options.store;
    const positions = this.#pending.map(({ position }) => position);
    // A promoted replica applies nothing any more; what it has written counts.
    const { rows } = await sql<{ reached: number }>`select count(*)::int as reached
      from unnest(${positions}::pg_lsn[]) position
      where position <= case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end`.execute(
      replica?.db ?? this.#options.store.fleet,
    );
    this.#pending = this.#pending.slice(rows[0]?.reached ?? 0);
    const [oldest] = this.#pending;
    return oldest === undefined ? 0 : (this.#clock() - oldest.at) / 1_000;
  }

  #become(isUsable: boolean, reason: string): void {
    const state = this.#options.store.replica?.state;
    if (state === undefined || (state.isUsable === isUsable && this.#wasChecked)) return;
    this.#wasChecked = true;
    state.isUsable = isUsable;
    if (isUsable) this.#options.log.info('reads use the replica');
    else this.#options.log.warn('reads use the primary instead of the replica', { reason });
  }
}
