import { AppError } from '@pipeline/domain';
import { AnswerError } from '../answers/answer-error.ts';

export interface StreamLimits {
  /** Open at a time, by one credential; 0 = no limit. */
  perCredential: number;
  /** Open at a time in this process; 0 = no limit. */
  inAll: number;
}

const RETRY_AFTER_S = 30;

/** Counts open streams. */
export class StreamLimit {
  readonly #limits: StreamLimits;
  readonly #open = new Map<string, number>();
  #total = 0;

  constructor(limits: StreamLimits) {
    this.#limits = limits;
  }

  /**
   * Counts a stream.
   * @returns what to call when it has ended.
   * @throws AnswerError RATE_LIMITED when its credential has as many as it may, SSE_UNAVAILABLE when the process has.
   */
  take(key: string): () => void {
    const { perCredential, inAll } = this.#limits;
    const open = this.#open.get(key) ?? 0;
    if (perCredential > 0 && open >= perCredential) {
      const message = `${open} event streams are open with these credentials; close one first`;
      throw new AnswerError('RATE_LIMITED', message, {
        'retry-after': `${RETRY_AFTER_S}`,
        ratelimit: `"streams";r=0;t=${RETRY_AFTER_S}`,
        'ratelimit-policy': `"streams";q=${perCredential}`,
      });
    }
    if (inAll > 0 && this.#total >= inAll) throw new AppError('SSE_UNAVAILABLE', 'Too many event streams are open');
    this.#open.set(key, open + 1);
    this.#total += 1;
    return () => this.#release(key);
  }

  #release(key: string): void {
    const open = this.#open.get(key) ?? 0;
    if (open > 1) this.#open.set(key, open - 1);
    else this.#open.delete(key);
    this.#total -= 1;
  }
}
