import { useElementScrollRestoration } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type RefObject, useEffect } from 'react';
import { preferences } from '../preferences/preferences.ts';
import { useSignal } from '../shared/use-signal.ts';
import { useRowSlots } from './use-row-slots.ts';

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
