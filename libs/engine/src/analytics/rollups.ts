import {
  aggregateRollups,
  checkDay,
  deleteOldRollups,
  nextDayToCheck,
  noteCheckedDay,
  type SumsCheck,
} from '@pipeline/store';
import type { Engine } from '../context/context.ts';

/** Aggregates a batch of deltas into the analytics rollups. @returns whether there is more to do immediately. */
export const aggregateDeltas = async ({ store }: Engine): Promise<boolean> => (await aggregateRollups(store.db)).more;

export interface CheckedDay {
  /** YYYY-MM-DD, UTC. */
  day: string;
  /** True = it was compared before it ended. If so, a difference is an error; if not, its rollups were missing. */
  known: boolean;
  /** Rollup tables with differences, and their size; they are repaired. */
  off: SumsCheck[];
}

/**
 * Takes the newest day that was not compared after its end, recomputes its rollups from the history, and repairs
 * differences. After an upgrade, repeated calls go back day by day until the whole history has rollups.
 * @returns undefined when every day has been compared.
 */
export async function checkNextDay({ store }: Engine): Promise<CheckedDay | undefined> {
  const next = await nextDayToCheck(store.db);
  if (!next) {
    await deleteOldRollups(store.db);
    return undefined;
  }
  const { day, known } = next;
  const checks = await checkDay(store.db, day, true);
  const off = checks.filter(({ wrong }) => wrong > 0);
  const wrong = off.reduce((sum, check) => sum + check.wrong, 0);
  await noteCheckedDay(store.db, day, wrong);
  return { day, known, off };
}
