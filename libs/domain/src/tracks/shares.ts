/** A track that is due. */
export interface Claimant {
  name: string;
  /** Its share beside the others; 0 = it takes only what nobody with a weight wants. */
  weight: number;
  /** How many issues its run asks for. */
  wants: number;
  /** How many issues it was given lately. */
  served: number;
}

/**
 * Shares the free places of a repo among the tracks that are due, by weight: place after place goes to the track that
 * has been served least for its weight, that is with the smallest (served + given + 1) / weight, of several to the one
 * that comes first in the list. This is the method of highest averages over what was served lately, so that a track of
 * weight 3 gets three times the issues of one of weight 1 over time, also where places come free one by one, and no
 * track with a weight starves. Nothing is left while somebody wants more, and nobody gets more than it wants.
 * @returns the places of each claimant, in their order.
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

/** The claimant whose turn it is; null when all have what they want. */
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

/** Weighted claimants come before weightless ones, whatever these have. */
interface Turn {
  weightless: boolean;
  load: number;
}

const turnOf = ({ weight, served }: Claimant, has: number): Turn =>
  weight > 0 ? { weightless: false, load: (served + has + 1) / weight } : { weightless: true, load: served + has + 1 };

const isBefore = (a: Turn, b: Turn): boolean => (a.weightless === b.weightless ? a.load < b.load : b.weightless);
