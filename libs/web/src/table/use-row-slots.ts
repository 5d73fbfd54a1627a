import type { VirtualItem } from '@tanstack/react-virtual';
import { type RefObject, useRef } from 'react';
import { slotsOf } from './slots.ts';

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
