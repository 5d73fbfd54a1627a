export interface Comparison {
  /** Values that were looked at. */
  compared: number;
  /** A line for each that is another one. */
  different: string[];
}

/** Part of a value by which the other one may be off where fractions are added up in another order. */
const FRACTION = 1e-9;

/**
 * Compares an answer with what it should say: everything that is wanted must be there, lists are as long as they should
 * be, and what is said beyond that is left aside. Whole numbers are exact.
 * @param off by how much of its value a number at a place may be off.
 */
export function differences(said: unknown, wanted: unknown, off: (place: string) => number = () => 0): Comparison {
  const comparison: Comparison = { compared: 0, different: [] };
  compare(comparison, { said, wanted, place: '' }, off);
  return comparison;
}

interface Pair {
  said: unknown;
  wanted: unknown;
  place: string;
}

function compare(into: Comparison, pair: Pair, off: (place: string) => number): void {
  const { said, wanted, place } = pair;
  if (typeof wanted === 'object' && wanted !== null) {
    for (const inside of Array.isArray(wanted) ? inList(into, said, wanted, place) : inObject(said, wanted, place)) {
      compare(into, inside, off);
    }
    return;
  }
  into.compared += 1;
  if (!isSame(said, wanted, off(place))) into.different.push(`${place}: ${show(said)} instead of ${show(wanted)}`);
}

function inList(into: Comparison, said: unknown, wanted: readonly unknown[], place: string): Pair[] {
  const list: unknown[] = Array.isArray(said) ? said : [];
  if (list.length !== wanted.length)
    into.different.push(`${place}: ${list.length} of them instead of ${wanted.length}`);
  const both = wanted.slice(0, list.length);
  return both.map((each, index) => ({ said: list[index], wanted: each, place: `${place}[${index}]` }));
}

const inObject = (said: unknown, wanted: object, place: string): Pair[] =>
  Object.entries(wanted).map(([name, each]) => ({
    said: (said as Record<string, unknown> | null | undefined)?.[name],
    wanted: each,
    place: place === '' ? name : `${place}.${name}`,
  }));

function isSame(said: unknown, wanted: unknown, off: number): boolean {
  if (said === wanted) return true;
  if (typeof said !== 'number' || typeof wanted !== 'number') return false;
  const fraction = Number.isInteger(said) && Number.isInteger(wanted) ? off : Math.max(off, FRACTION);
  return Math.abs(said - wanted) <= fraction * Math.max(1, Math.abs(wanted));
}

const show = (value: unknown): string => JSON.stringify(value) ?? 'nothing';
