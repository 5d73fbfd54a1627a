/** What one look at the store found, and when that look began; ISO 8601. */
interface Poll<T> {
  value: T;
  polledAt: string;
}

/**
 * Something that is read by polls and answered from memory (interface: Cache-backed observability), so that answers
 * cost the store nothing.
 */
export class PolledValue<T> {
  readonly #read: () => Promise<T>;
  readonly #now: () => Date;
  #last: Poll<T> | null = null;
  #asked = 0;
  #applied = 0;

  constructor(read: () => Promise<T>, now: () => Date) {
    this.#read = read;
    this.#now = now;
  }

  /** Reads it anew. A read that was overtaken by a later one, or by a change, is thrown away. */
  async refresh(): Promise<void> {
    this.#asked += 1;
    const turn = this.#asked;
    const polledAt = this.#now().toISOString();
    const value = await this.#read();
    if (turn < this.#applied) return;
    this.#applied = turn;
    this.#last = { value, polledAt };
  }

  /** Puts in what is known to have changed without reading it anew; reads under way are thrown away. */
  change(edit: (value: T) => T): void {
    this.#asked += 1;
    this.#applied = this.#asked;
    if (this.#last) this.#last = { ...this.#last, value: edit(this.#last.value) };
  }

  /** null until the first poll has finished. */
  get last(): Poll<T> | null {
    return this.#last;
  }
}
