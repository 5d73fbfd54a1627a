import { useVirtualizer } from '@tanstack/react-virtual';
import { type RefObject, useEffect } from 'react';
import { preferences } from '../preferences/preferences.ts';
import { useSignal } from '../shared/use-signal.ts';
import { useRowSlots } from './use-row-slots.ts';

const ROW_PX = { dense: 26, normal: 32, coarse: 44 };
const isCoarse = window.matchMedia('(pointer: coarse)').matches;
/** Of a row with two lines. */
const TALL_PX = 48;
/** `onEnd` is called when this many rows are left. */
const END_ROWS = 20;

interface VirtualRowsOptions {
  count: number;
  /** Key of the row at an index. */
  keyAt: (index: number) => string;
  scroller: RefObject<HTMLElement | null>;
  /** The element of the rows. */
  body: RefObject<HTMLElement | null>;
  /** Rows have two lines. */
  isTall: boolean;
  /** Called when the end of the list comes into view. */
  onEnd?: () => void;
}

/** Returns the rows in view with their places, and the height of a row in pixels. */
export function useVirtualRows({ count, keyAt, scroller, body, isTall, onEnd }: VirtualRowsOptions) {
  const { density } = useSignal(preferences);
  const line = isCoarse ? ROW_PX.coarse : ROW_PX[density];
  const height = isTall ? TALL_PX : line;
  const virtual = useVirtualizer({
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
