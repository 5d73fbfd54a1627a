import type { BodyMemory } from './body-memory.ts';

const FIRST_BYTES = 4 * 1024;

/**
 * Contiguous buffer that copies chunks on arrival, so that small chunks cost no object each. Its capacity, at most twice its
 * content, is reserved from a memory budget.
 */
export class GrowingBuffer {
  readonly #memory: BodyMemory;
  /** Expected size in bytes, if known. */
  readonly #final: number | undefined;
  #buffer = Buffer.alloc(0);
  #length = 0;
  #isReleased = false;

  constructor(memory: BodyMemory, final: number | undefined) {
    this.#memory = memory;
    this.#final = final;
  }

  get length(): number {
    return this.#length;
  }

  /** @throws AnswerError OVERLOADED when the memory budget is exhausted. */
  append(chunk: Uint8Array): void {
    if (this.#isReleased) return;
    const needed = this.#length + chunk.length;
    if (needed > this.#buffer.length) this.#grow(needed);
    this.#buffer.set(chunk, this.#length);
    this.#length = needed;
  }

  #grow(needed: number): void {
    const doubled = Math.max(FIRST_BYTES, this.#buffer.length * 2);
    const size = Math.max(needed, Math.min(doubled, this.#final ?? doubled));
    this.#memory.take(size - this.#buffer.length);
    const grown = Buffer.allocUnsafeSlow(size);
    grown.set(this.#buffer.subarray(0, this.#length));
    this.#buffer = grown;
  }

  bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  /** Releases the reserved memory. Existing views stay readable; appending is no longer allowed. */
  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#memory.release(this.#buffer.length);
  }
}
