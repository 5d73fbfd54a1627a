import { DAY_MS } from '@pipeline/domain';
import {
  aggregateRollups,
  checkRollups,
  deleteOldRollups,
  nextDayToCheck,
  noteCheckedDay,
  type SumsCheck,
} from '@pipeline/store';
import type { Engine } from '../context/context.ts';

/** Aggregates a batch of deltas into the analytics rollups. @returns whether there is more to do immediately. */
export const aggregateDeltas = async ({ store }: Engine): Promise<boolean> =>
  (await aggregateRollups(store.fleet)).more;

export interface CheckedDay {
  /** YYYY-MM-DD, UTC. */
  day: string;
  /**
   * It was compared before, while it was not over: a difference now is an error, else its rollups were only missing.
   */
  known: boolean;
  /** Rollup tables with differences, and their size; they are repaired. */
  off: SumsCheck[];
}

/**
 * Recomputes the rollups of the newest day that has not been compared since it ended from the history, and repairs
 * differences. After an upgrade it continues day by day until the whole history has rollups.
 * @returns undefined when every day has been compared.
 */
export async function checkNextDay({ store }: Engine): Promise<CheckedDay | undefined> {
  const next = await nextDayToCheck(store.fleet);
  if (!next) {
    await deleteOldRollups(store.fleet);
    return undefined;
  }
  const { day, known } = next;
  const from = new Date(`${day}T00:00:00Z`);
  const stretch = { from: from.toISOString(), to: new Date(from.getTime() + DAY_MS).toISOString() };
  const checks = await checkRollups(store.fleet, stretch, true);
  const off = checks.filter(({ wrong }) => wrong > 0);
  const wrong = off.reduce((sum, check) => sum + check.wrong, 0);
  await noteCheckedDay(store.fleet, day, wrong);
  return { day, known, off };
}
