import type { Logger, LoopMetrics } from '@pipeline/runtime';
import { type Periodic, runPeriodically } from '@pipeline/runtime/periodic';
import { DeadlineError, withDeadline } from '@pipeline/runtime/sleep';
import type { Store } from '../driver/connection.ts';
import { isUnavailable } from '../driver/store-errors.ts';
import { assertSchema, SchemaError } from '../schema/schema.ts';
import { mayChangeSchema } from '../schema/service-roles.ts';

const EVERY_MS = 2_000;
/** Deadline in ms, as long as a pool waits for a connection: a busy store is not a lost one. */
const DEADLINE_MS = 5_000;

type StoreState = 'connected' | 'unreachable' | 'outdated';

interface StoreWatchOptions {
  store: Store;
  log: Logger;
  metrics?: LoopMetrics;
  now?: () => Date;
}

/**
 * Watches whether the store can be used. While it cannot, requests are refused at once and loops rest; both go on by
 * themselves when it is back.
 */
export class StoreWatch {
  readonly loop: Periodic;
  readonly #store: Store;
  readonly #log: Logger;
  readonly #onConnected: (() => void)[] = [];
  #state: StoreState = 'unreachable';
  #problem: Error | null = null;
  #wasAsked = false;
  #areRightsKnown = false;
  #checking: Promise<StoreState> | undefined;

  constructor({ store, log, ...loop }: StoreWatchOptions) {
    this.#store = store;
    this.#log = log;
    this.loop = runPeriodically(() => this.check(), { name: 'store-watch', everyMs: EVERY_MS, log, ...loop });
  }

  /** `unreachable` until the first check has ended. */
  get state(): StoreState {
    return this.#state;
  }

  get isConnected(): boolean {
    return this.#state === 'connected';
  }

  /** Why it cannot be used; null while it can. The message explains how to correct it, where an operator must. */
  get problem(): Error | null {
    return this.#problem;
  }

  /** Calls `listener` each time the store has come to be connected. */
  onConnected(listener: () => void): void {
    this.#onConnected.push(listener);
  }

  /** Looks now: one short statement on a pool that is not used up by what depends on the answer. Checks at once are one check. */
  check(): Promise<StoreState> {
    this.#checking ??= this.#look().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  async #look(): Promise<StoreState> {
    try {
      await withDeadline(assertSchema(this.#store.db), DEADLINE_MS, 'asking the store for its schema');
      await withDeadline(this.#checkRights(), DEADLINE_MS, 'reading the rights of this login');
      this.#become('connected', null);
    } catch (error) {
      const problem = error instanceof Error ? error : new Error(String(error), { cause: error });
      this.#become(problem instanceof SchemaError ? 'outdated' : 'unreachable', problem);
    }
    return this.#state;
  }

  /**
   * Once per process. A login that owns the schema works, but a flaw in this process would then reach the schema too.
   */
  async #checkRights(): Promise<void> {
    if (this.#areRightsKnown) return;
    const isOwner = await mayChangeSchema(this.#store.db);
    this.#areRightsKnown = true;
    if (isOwner)
      this.#log.warn('the database login of this process can change the schema; use a role with data privileges only');
  }

  #become(state: StoreState, problem: Error | null): void {
    this.#problem = problem;
    if (state === this.#state && this.#wasAsked) return;
    this.#wasAsked = true;
    this.#state = state;
    if (problem !== null) {
      const expected = isUnavailable(problem) || problem instanceof SchemaError || problem instanceof DeadlineError;
      const fields = expected ? { cause: String(problem) } : { error: problem };
      this.#log.error(`the store is ${state}: dependent work waits for it`, fields);
      return;
    }
    this.#log.info('the store is connected');
    for (const listener of this.#onConnected) listener();
  }
}
