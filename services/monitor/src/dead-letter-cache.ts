import { type DeadLetter, type PageRequest, type Paginated, pageOf } from '@pipeline/domain';
import { countOpenDeadLetters, type Db, openDeadLetters } from '@pipeline/store';

/** The newest letters that are kept in memory. A pipeline with more of them needs no better list but mending. */
const KEPT = 10_000;

export interface Reading {
  letters: readonly DeadLetter[];
  /** Also of those that are not kept. */
  total: number;
}

/** The unresolved letters of all tenants, newest first: one indexed read, and a count where there are very many. */
export async function readLetters(fleet: Db): Promise<Reading> {
  const letters = await openDeadLetters(fleet, { limit: KEPT, offset: 0 });
  return { letters, total: letters.length < KEPT ? letters.length : await countOpenDeadLetters(fleet) };
}

/**
 * The unresolved dead letters as of the last poll (interface: Cache-backed observability). Lists are answered from
 * here, so they cost the store nothing.
 */
export class DeadLetterCache {
  readonly #read: () => Promise<Reading>;
  #letters: readonly DeadLetter[] = [];
  /** null until the first poll has finished: an empty list then says nothing. */
  #total: number | null = null;
  #asked = 0;
  #applied = 0;

  constructor(read: () => Promise<Reading>) {
    this.#read = read;
  }

  /** Reads the letters anew. A read that was overtaken by a later one is thrown away. */
  async refresh(): Promise<void> {
    this.#asked += 1;
    const turn = this.#asked;
    const { letters, total } = await this.#read();
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
