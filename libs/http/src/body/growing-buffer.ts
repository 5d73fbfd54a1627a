import type { BodyMemory } from './body-memory.ts';

const FIRST_BYTES = 4 * 1024;

/**
 * Bytes in one piece, copied as they come: chunks of one byte cost one byte, not an object each. What it occupies is
 * counted in a memory, at most twice its content.
 */
export class GrowingBuffer {
  readonly #memory: BodyMemory;
  /** What it will hold, if that is known. */
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

  /** @throws AnswerError OVERLOADED when the memory has no room. */
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

  /** Gives the memory back. The bytes stay readable to whoever still has them; nothing is appended any more. */
  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#memory.release(this.#buffer.length);
  }
}
