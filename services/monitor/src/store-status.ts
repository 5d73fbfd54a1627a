import type { Readiness } from '@pipeline/contract';
import { AppError } from '@pipeline/domain';
import { DeadlineError, type Logger, withDeadline } from '@pipeline/runtime';
import { assertSchema, isRefusedLogin, isUnavailable, SchemaError, type Store } from '@pipeline/store';

type StoreState = Exclude<Readiness['store'], 'not-configured'>;

const ANSWER_WITHIN_MS = 5_000;

/** Whether the store can be used now. Loops rest and routes answer 503 while it cannot; both go on by themselves. */
export class StoreStatus {
  readonly #store: Store;
  readonly #log: Logger;
  #state: StoreState = 'unreachable';
  #problem: string | null = null;
  #isLoginRefused = false;
  #wasAsked = false;

  constructor(store: Store, log: Logger) {
    this.#store = store;
    this.#log = log;
  }

  get state(): StoreState {
    return this.#state;
  }

  get isConnected(): boolean {
    return this.#state === 'connected';
  }

  /** Why it cannot be used, and what mends that; null while it can. */
  get problem(): string | null {
    return this.#problem;
  }

  /** The server is there and DATABASE_URL is wrong. */
  get isLoginRefused(): boolean {
    return this.#isLoginRefused;
  }

  /** Asks the store for its schema: three short statements. @throws what is neither an outage nor a wrong schema. */
  async check(): Promise<void> {
    try {
      await withDeadline(assertSchema(this.#store.tenant), ANSWER_WITHIN_MS, 'asking the store for its schema');
      this.#become('connected');
    } catch (error) {
      if (error instanceof SchemaError) this.#become('outdated', error);
      else if (error instanceof DeadlineError || isUnavailable(error)) this.#become('unreachable', error);
      else throw error;
    }
  }

  /** What a caller is told about an error of the store; other errors as they are. */
  explain(error: unknown): unknown {
    if (error instanceof AppError || !isUnavailable(error)) return error;
    this.#become('unreachable', error);
    return new AppError('STORE_UNAVAILABLE', '', { cause: error });
  }

  #become(state: StoreState, error?: unknown): void {
    this.#problem = error instanceof Error ? error.message : null;
    this.#isLoginRefused = isRefusedLogin(error);
    if (state === this.#state && this.#wasAsked) return;
    this.#wasAsked = true;
    this.#state = state;
    if (state === 'connected') this.#log.info('the store is connected');
    else this.#log.error(`the store is ${state}`, { error });
  }
}
