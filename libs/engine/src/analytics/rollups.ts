import { DAY_MS } from '@pipeline/domain';
import {
  checkRollups,
  foldRollups,
  forgetOldSums,
  nextDayToCheck,
  noteCheckedDay,
  type SumsCheck,
} from '@pipeline/store';
import type { Engine } from '../context/context.ts';

/** Adds a batch of what changes have appended to the sums of analytics. @returns whether there is more to do at once. */
export const foldSums = async ({ store }: Engine): Promise<boolean> => (await foldRollups(store.fleet)).more;

export interface CheckedDay {
  /** YYYY-MM-DD, UTC. */
  day: string;
  /** It was compared before, while it was not over: what is off now is wrong, else it only lacked its sums. */
  known: boolean;
  /** Tables of sums that were off, and by what; they are mended. */
  off: SumsCheck[];
}

/**
 * Makes the sums of the newest day that has not been compared since it ended anew from the rows of the history, and
 * mends what is off. After an upgrade it goes back day by day until the whole history has its sums.
 * @returns undefined when every day has been compared.
 */
export async function checkNextDay({ store }: Engine): Promise<CheckedDay | undefined> {
  const next = await nextDayToCheck(store.fleet);
  if (!next) {
    await forgetOldSums(store.fleet);
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
