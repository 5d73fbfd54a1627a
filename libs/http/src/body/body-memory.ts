import type { AnyRoute } from '@pipeline/contract';
import { AnswerError } from '../answers/answer-error.ts';

const MIB = 1024 * 1024;
const RETRY_AFTER_S = 5;

/** Bytes of request bodies that this process holds at a time, by what is known of their senders. */
export interface BodyMemoryLimits {
  /** Routes without authentication: forms and logins, 16 to 256 KiB each. */
  anonymous: number;
  /** Signed bodies: the signature is verified after the body was read. */
  signed: number;
  /** Callers that were authenticated. */
  authenticated: number;
}

const DEFAULT_LIMITS: BodyMemoryLimits = { anonymous: 4 * MIB, signed: 64 * MIB, authenticated: 128 * MIB };

/** Counts the bytes of bodies in flight: from when they are received until the answer to their request is over. */
export class BodyMemory {
  readonly #limit: number;
  #used = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get used(): number {
    return this.#used;
  }

  /** @throws AnswerError OVERLOADED when a body of that size has no room now. Nothing is counted. */
  requireRoom(bytes: number): void {
    if (this.#used + bytes <= this.#limit) return;
    const message = `Too many request bodies at a time: try again in ${RETRY_AFTER_S} s`;
    throw new AnswerError('OVERLOADED', message, { 'retry-after': String(RETRY_AFTER_S) });
  }

  /** Counts bytes that are held from now on. @throws AnswerError OVERLOADED; then nothing is counted. */
  take(bytes: number): void {
    this.requireRoom(bytes);
    this.#used += bytes;
  }

  release(bytes: number): void {
    this.#used -= bytes;
  }
}

/** One memory for each kind of sender, so that strangers cannot use up what authenticated callers need. */
export class BodyMemories {
  readonly #memories: Readonly<Record<keyof BodyMemoryLimits, BodyMemory>>;

  constructor(limits: Partial<BodyMemoryLimits> = {}) {
    const all = { ...DEFAULT_LIMITS, ...limits };
    this.#memories = {
      anonymous: new BodyMemory(all.anonymous),
      signed: new BodyMemory(all.signed),
      authenticated: new BodyMemory(all.authenticated),
    };
  }

  of({ auth }: AnyRoute): BodyMemory {
    if (auth === 'none') return this.#memories.anonymous;
    return auth === 'signature' ? this.#memories.signed : this.#memories.authenticated;
  }
}
