import type { VirtualItem } from '@tanstack/react-virtual';
import { type RefObject, useRef } from 'react';

/** A row in view, and the number of its elements. */
export interface PlacedRow {
  item: VirtualItem;
  key: string;
  slot: number;
}

interface RowSlotsOptions {
  items: readonly VirtualItem[];
  keyAt: (index: number) => string;
  body: RefObject<HTMLElement | null>;
  isScrolling: boolean;
}

/**
 * Returns the rows in view in the order of their elements: at rest that of the table, which screen readers follow. While the
 * table is scrolled no element is moved. What has the focus inside of a row stays where it is: no element changes its row then.
 */
export function useRowSlots({ items, keyAt, body, isScrolling }: RowSlotsOptions): readonly PlacedRow[] {
  const slots = useRef<ReadonlyMap<string, number>>(new Map());
  const isReused = !body.current?.contains(document.activeElement);
  const keys = items.map(({ index }) => keyAt(index));
  slots.current = slotsOf(slots.current, keys, isReused);
  const rows = items.map((item, at) => {
    const key = keys[at] ?? '';
    return { item, key, slot: slots.current.get(key) ?? item.index };
  });
  return isScrolling && isReused ? rows.toSorted((a, b) => a.slot - b.slot) : rows;
}

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
