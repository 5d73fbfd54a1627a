import { type PageRequest, type Paginated, pageOf } from '@pipeline/domain';

export interface Reading<T> {
  items: readonly T[];
  /** Also of those that are not kept. */
  total: number;
}

/**
 * A list as of the last poll (interface: Cache-backed observability). Pages are answered from here, so they cost the
 * store nothing.
 */
export class ListCache<T> {
  readonly #read: () => Promise<Reading<T>>;
  readonly #now: () => Date;
  #items: readonly T[] = [];
  /** null until the first poll has finished: an empty list then says nothing. */
  #total: number | null = null;
  /** When the poll began that brought the list. */
  #polledAt: string | null = null;
  #asked = 0;
  #applied = 0;

  constructor(read: () => Promise<Reading<T>>, now: () => Date) {
    this.#read = read;
    this.#now = now;
  }

  /** Reads the list anew. A read that was overtaken by a later one, or by a change, is thrown away. */
  async refresh(): Promise<void> {
    this.#asked += 1;
    const turn = this.#asked;
    const began = this.#now().toISOString();
    const { items, total } = await this.#read();
    if (turn < this.#applied) return;
    this.#applied = turn;
    this.#items = items;
    this.#total = total;
    this.#polledAt = began;
  }

  /** Puts what is known to have changed into the list without reading it anew; reads under way are thrown away. */
  change(edit: (items: readonly T[]) => readonly T[]): void {
    this.#asked += 1;
    this.#applied = this.#asked;
    const before = this.#items.length;
    this.#items = edit(this.#items);
    if (this.#total !== null) this.#total += this.#items.length - before;
  }

  page(request: PageRequest): Paginated<T> & { polledAt: string | null } {
    const { limit, offset } = request;
    return { ...pageOf(this.#items.slice(offset, offset + limit), request, this.#total), polledAt: this.#polledAt };
  }

  all(): readonly T[] {
    return this.#items;
  }
}
