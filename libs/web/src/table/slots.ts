/**
 * Returns a number for each row in view: rows keep theirs, and a row that comes into view takes that of one that has left.
 * React then changes the elements of that row: to remove and to create them takes most of a frame while a table is scrolled.
 * @param before the result for the rows that were in view.
 * @param isReused false gives new rows new numbers, and so elements of their own.
 */
export function slotsOf(
  before: ReadonlyMap<string, number>,
  keys: readonly string[],
  isReused: boolean,
): Map<string, number> {
  const slots = new Map<string, number>();
  const taken = new Set<number>();
  for (const key of keys) {
    const slot = before.get(key);
    if (slot !== undefined) taken.add(slot);
  }
  let next = isReused ? 0 : Math.max(-1, ...before.values()) + 1;
  for (const key of keys) {
    const slot = before.get(key);
    if (slot === undefined) while (taken.has(next)) next += 1;
    slots.set(key, slot ?? next);
    if (slot === undefined) next += 1;
  }
  return slots;
}
