import { useElementScrollRestoration } from '@tanstack/react-router';
import { useVirtualizer, type VirtualItem } from '@tanstack/react-virtual';
import { type RefObject, useEffect, useRef } from 'react';
import { preferences } from '../preferences/preferences.ts';
import { useSignal } from '../shared/use-signal.ts';

/** A row in view, and the number of its elements. */
interface PlacedRow {
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

const ROW_PX = { dense: 26, normal: 32, coarse: 44 };
const isCoarse = window.matchMedia('(pointer: coarse)').matches;
/** Height of a row with two lines. */
const TALL_PX = 48;
/** `onEnd` is called when this many rows are left. */
const END_ROWS = 20;

/**
 * Returns the id by which the router restores the position of a table: without it, any element at the same place of
 * another page would get its position.
 */
export const scrollIdOf = (label: string): string => `table ${label}`;

interface VirtualRowsOptions {
  /** Label of the table. */
  label: string;
  count: number;
  /** Key of the row at an index. */
  keyAt: (index: number) => string;
  scroller: RefObject<HTMLElement | null>;
  /** The element of the rows. */
  body: RefObject<HTMLElement | null>;
  /** Rows have two lines. */
  isTall?: boolean;
  /** Called when the end of the list comes into view. */
  onEnd?: () => void;
}

/**
 * Returns the rows in view with their places, and the height of a row in pixels. A table that is shown again after back,
 * forward or a reload begins where it was left, also when its rows come later than the router looks for it.
 */
export function useVirtualRows({ label, count, keyAt, scroller, body, isTall = false, onEnd }: VirtualRowsOptions) {
  const { density } = useSignal(preferences);
  const line = isCoarse ? ROW_PX.coarse : ROW_PX[density];
  const height = isTall ? TALL_PX : line;
  const left = useElementScrollRestoration({ id: scrollIdOf(label) });
  const virtual = useVirtualizer({
    initialOffset: left?.scrollY ?? 0,
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    overscan: 8,
    scrollPaddingStart: line,
  });
  const items = virtual.getVirtualItems();
  const lastShown = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (count > 0 && lastShown >= count - END_ROWS) onEnd?.();
  }, [lastShown, count, onEnd]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the height of all rows has changed.
  useEffect(() => virtual.measure(), [height]);
  const placed = useRowSlots({ items, keyAt, body, isScrolling: virtual.isScrolling });
  return { virtual, placed, height };
}

/**
 * Returns the rows in view in the order of their elements: at rest that of the table, which screen readers follow. While the
 * table is scrolled no element is moved. What has the focus inside of a row stays where it is: no element changes its row then.
 */
function useRowSlots({ items, keyAt, body, isScrolling }: RowSlotsOptions): readonly PlacedRow[] {
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
