/** The result of one read, and when that read began; ISO 8601. */
interface Poll<T> {
  value: T;
  polledAt: string;
}

/** A value that polls read from the store and requests read from memory (interface: Cache-backed observability). */
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

  /** Reads the value again. A read that finishes after a later one, or after a change, is discarded. */
  async refresh(): Promise<void> {
    this.#asked += 1;
    const turn = this.#asked;
    const polledAt = this.#now().toISOString();
    const value = await this.#read();
    if (turn < this.#applied) return;
    this.#applied = turn;
    this.#last = { value, polledAt };
  }

  /** Applies a known change without reading the value again; reads in progress are discarded. */
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
