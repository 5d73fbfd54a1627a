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

/**
 * Counts the bytes of bodies in flight by address, from their arrival until the response of their request is complete. An
 * address holds at most as many bytes as remain free: one address leaves half of the limit to others, n leave 1/(n+1).
 */
export class BodyMemory {
  readonly #limit: number;
  readonly #byAddress = new Map<string, number>();
  #used = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Checks a body size against the free memory without reserving it. @throws AnswerError OVERLOADED. */
  requireRoom(address: string, bytes: number): void {
    const free = this.#limit - this.#used - bytes;
    if (this.#heldBy(address) + bytes <= free) return;
    const message = `Too many request bodies at a time: try again in ${RETRY_AFTER_S} s`;
    throw new AnswerError('OVERLOADED', message, { 'retry-after': String(RETRY_AFTER_S) });
  }

  /** Reserves bytes for a body from an address. @throws AnswerError OVERLOADED; then nothing is reserved. */
  take(address: string, bytes: number): void {
    this.requireRoom(address, bytes);
    this.#add(address, bytes);
  }

  release(address: string, bytes: number): void {
    this.#add(address, -bytes);
  }

  #heldBy(address: string): number {
    return this.#byAddress.get(address) ?? 0;
  }

  #add(address: string, bytes: number): void {
    this.#used += bytes;
    const held = this.#heldBy(address) + bytes;
    if (held === 0) this.#byAddress.delete(address);
    else this.#byAddress.set(address, held);
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
