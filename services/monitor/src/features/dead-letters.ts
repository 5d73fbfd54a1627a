import type { DeadLetter } from '@pipeline/domain';
import { countOpenDeadLetters, type Db, openDeadLetters } from '@pipeline/store';
import { Gauge, type Registry } from 'prom-client';
import { ListCache, type Reading } from '../polling/list-cache.ts';
import type { Wiring } from './wiring.ts';

export type DeadLetterCache = ListCache<DeadLetter>;

/** The newest letters that are kept in memory. A pipeline with more of them needs repairs, not a longer list. */
const KEPT = 10_000;

/** The unresolved letters in memory, and the loop that reads them. */
export function addDeadLetters({ loops, notifications, store, metrics, now, listsEveryMs }: Wiring) {
  const letters: DeadLetterCache = new ListCache(() => readLetters(store.fleet), now);
  const loop = loops.add('dead-letters', listsEveryMs, () => letters.refresh());
  notifications.on('svc_cache', () => loop.wake());
  registerDeadLetterGauge(metrics.registry, letters);
  return { letters, loop: loop.name };
}

/** The unresolved letters of all tenants, newest first: one indexed read, and a count where there are very many. */
export async function readLetters(fleet: Db): Promise<Reading<DeadLetter>> {
  const items = await openDeadLetters(fleet, { limit: KEPT, offset: 0 });
  return { items, total: items.length < KEPT ? items.length : await countOpenDeadLetters(fleet) };
}

/** Counts the letters that are in memory when it is asked. */
export function registerDeadLetterGauge(registry: Registry, letters: Pick<DeadLetterCache, 'all'>): void {
  new Gauge({
    name: 'svc_dead_letters_unresolved',
    help: 'Number of unresolved dead letters.',
    labelNames: ['repo'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { repoOwner, repoName } of letters.all()) this.inc({ repo: `${repoOwner}/${repoName}` });
    },
  });
}
