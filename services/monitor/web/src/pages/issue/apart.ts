/** A lane is this many marks wide: closer ones would be drawn over each other. */
const MARKS = 500;

/** Extent of a mark on its lane: its start and end as shares of the width. */
interface Place {
  from: number;
  to: number;
}

/**
 * Returns the marks that can be distinguished, at most about two per five-hundredth of the lane: one that lies within the
 * same five-hundredth as an earlier one is left out, and so are those outside of the lane.
 */
export function apart<Mark>(marks: readonly Mark[], placeOf: (mark: Mark) => Place): Mark[] {
  const taken = new Set<number>();
  return marks.filter((mark) => {
    const { from, to } = placeOf(mark);
    if (to < 0 || from > 1) return false;
    const slot = Math.floor(from * MARKS);
    if (Math.floor(to * MARKS) > slot) return true;
    const isNew = !taken.has(slot);
    taken.add(slot);
    return isNew;
  });
}
