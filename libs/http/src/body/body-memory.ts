import type { AnyRoute } from '@pipeline/contract';
import { AnswerError } from '../answers/answer-error.ts';

const MIB = 1024 * 1024;
const RETRY_AFTER_S = 5;

/** Maximum bytes of request bodies in flight per process, by kind of sender. */
export interface BodyMemoryLimits {
  /** Routes without authentication: forms and logins, 16 to 256 KiB each. */
  anonymous: number;
  /** Signed bodies: the signature is verified after the body was read. */
  signed: number;
  /** Authenticated callers. */
  authenticated: number;
}

const DEFAULT_LIMITS: BodyMemoryLimits = { anonymous: 4 * MIB, signed: 64 * MIB, authenticated: 128 * MIB };

/** Counts the bytes of bodies in flight, from their arrival until the response of their request is complete. */
export class BodyMemory {
  readonly #limit: number;
  #used = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get used(): number {
    return this.#used;
  }

  /** Checks a body size against the free memory without reserving it. @throws AnswerError OVERLOADED. */
  requireRoom(bytes: number): void {
    if (this.#used + bytes <= this.#limit) return;
    const message = `Too many request bodies at a time: try again in ${RETRY_AFTER_S} s`;
    throw new AnswerError('OVERLOADED', message, { 'retry-after': String(RETRY_AFTER_S) });
  }

  /** Reserves bytes. @throws AnswerError OVERLOADED; then nothing is reserved. */
  take(bytes: number): void {
    this.requireRoom(bytes);
    this.#used += bytes;
  }

  release(bytes: number): void {
    this.#used -= bytes;
  }
}

/** One budget per kind of sender, so that unauthenticated callers cannot exhaust the memory of authenticated ones. */
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
