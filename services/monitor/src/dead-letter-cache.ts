import type { DeadLetter } from '@pipeline/domain';
import { countOpenDeadLetters, type Db, openDeadLetters } from '@pipeline/store';
import type { ListCache, Reading } from './list-cache.ts';

/** The newest letters that are kept in memory. A pipeline with more of them needs no better list but mending. */
const KEPT = 10_000;

export type DeadLetterCache = ListCache<DeadLetter>;

/** The unresolved letters of all tenants, newest first: one indexed read, and a count where there are very many. */
export async function readLetters(fleet: Db): Promise<Reading<DeadLetter>> {
  const items = await openDeadLetters(fleet, { limit: KEPT, offset: 0 });
  return { items, total: items.length < KEPT ? items.length : await countOpenDeadLetters(fleet) };
}
