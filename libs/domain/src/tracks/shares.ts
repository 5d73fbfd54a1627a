/** A track that is due. */
export interface Claimant {
  name: string;
  /** Its weight; 0 = it takes only slots that no track with a weight wants. */
  weight: number;
  /** Number of issues that its run wants. */
  wants: number;
  /** Number of recent issues. */
  served: number;
}

/**
 * Shares the free slots of a repo among the due tracks by weight: each slot goes to the track with the smallest (served
 * + given + 1) / weight, on ties to the first in the list. This is the method of highest averages over recent issues,
 * so that a track of weight 3 gets three times the issues of one of weight 1 over time, also if slots become free one
 * by one, and no track with a weight starves. No slot is left while a track wants more, and no track gets more than it
 * wants.
 * @returns the slots of each claimant, in their order.
 */
export function sharePlaces(places: number, claimants: readonly Claimant[]): number[] {
  const given = claimants.map(() => 0);
  for (let left = places; left > 0; left -= 1) {
    const next = leastServed(claimants, given);
    if (next === null) break;
    given[next] = (given[next] ?? 0) + 1;
  }
  return given;
}

/** The next claimant; null when all have what they want. */
function leastServed(claimants: readonly Claimant[], given: readonly number[]): number | null {
  let best: number | null = null;
  let least: Turn | null = null;
  for (const [index, claimant] of claimants.entries()) {
    const has = given[index] ?? 0;
    if (has >= claimant.wants) continue;
    const turn = turnOf(claimant, has);
    if (least !== null && !isBefore(turn, least)) continue;
    best = index;
    least = turn;
  }
  return best;
}

/** Claimants with a weight come before those without, whatever these have. */
interface Turn {
  weightless: boolean;
  load: number;
}

const turnOf = ({ weight, served }: Claimant, has: number): Turn =>
  weight > 0 ? { weightless: false, load: (served + has + 1) / weight } : { weightless: true, load: served + has + 1 };

const isBefore = (a: Turn, b: Turn): boolean => (a.weightless === b.weightless ? a.load < b.load : b.weightless);
