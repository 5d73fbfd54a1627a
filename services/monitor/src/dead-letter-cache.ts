import { type DeadLetter, type PageRequest, type Paginated, pageOf } from '@pipeline/domain';
import { countOpenDeadLetters, type Db, openDeadLetters } from '@pipeline/store';

/** The newest letters that are kept in memory. A pipeline with more of them needs no better list but mending. */
const KEPT = 10_000;

/**
 * The unresolved dead letters of all tenants as of the last poll, newest first (interface: Cache-backed
 * observability). Lists are answered from here, so they cost the store nothing.
 */
export class DeadLetterCache {
  readonly #fleet: Db;
  #letters: readonly DeadLetter[] = [];
  /** null until the first poll has finished: an empty list then says nothing. */
  #total: number | null = null;
  #asked = 0;
  #applied = 0;

  constructor(fleet: Db) {
    this.#fleet = fleet;
  }

  /** Reads the letters anew: one indexed read. A read that was overtaken by a later one is thrown away. */
  async refresh(): Promise<void> {
    this.#asked += 1;
    const turn = this.#asked;
    const letters = await openDeadLetters(this.#fleet, { limit: KEPT, offset: 0 });
    const total = letters.length < KEPT ? letters.length : await countOpenDeadLetters(this.#fleet);
    if (turn < this.#applied) return;
    this.#applied = turn;
    this.#letters = letters;
    this.#total = total;
  }

  page(request: PageRequest): Paginated<DeadLetter> {
    const { limit, offset } = request;
    return pageOf(this.#letters.slice(offset, offset + limit), request, this.#total);
  }

  all(): readonly DeadLetter[] {
    return this.#letters;
  }
}
