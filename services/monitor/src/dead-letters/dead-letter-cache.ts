import type { DeadLetter } from '@pipeline/domain';
import { countOpenDeadLetters, type Db, openDeadLetters } from '@pipeline/store';
import { Gauge, type Registry } from 'prom-client';
import type { ListCache, Reading } from '../polling/list-cache.ts';

export type DeadLetterCache = ListCache<DeadLetter>;

/** Maximum number of dead letters in memory. A pipeline with more of them needs repairs, not a longer list. */
const KEPT = 10_000;

/** The unresolved dead letters of all tenants, newest first: one indexed read, and a count where there are very many. */
export async function readDeadLetters(fleet: Db): Promise<Reading<DeadLetter>> {
  const items = await openDeadLetters(fleet, { limit: KEPT, offset: 0 });
  return { items, total: items.length < KEPT ? items.length : await countOpenDeadLetters(fleet) };
}

/** Counts the dead letters in memory at each scrape. */
export function registerDeadLetterGauge(registry: Registry, deadLetters: Pick<DeadLetterCache, 'all'>): void {
  new Gauge({
    name: 'svc_dead_letters_unresolved',
    help: 'Number of unresolved dead letters.',
    labelNames: ['repo'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { repoOwner, repoName } of deadLetters.all()) this.inc({ repo: `${repoOwner}/${repoName}` });
    },
  });
}
