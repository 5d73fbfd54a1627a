import { type RefObject, useLayoutEffect } from 'react';
import { useWidth } from '../shared/use-width.ts';

/** Tables that begin further down scroll with the page. */
const MOST_TOP_PX = 260;
const MARGIN_PX = 16;

/** Lets a table that begins near the top of the page end at the bottom of the window. @returns its width in pixels. */
export function useTableSize(table: RefObject<HTMLElement | null>): number {
  const width = useWidth(table);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is above the table wraps in another width.
  useLayoutEffect(() => {
    const node = table.current;
    if (!node) return;
    const top = node.getBoundingClientRect().top + window.scrollY;
    if (top <= MOST_TOP_PX) node.style.setProperty('--table-top', `${Math.round(top) + MARGIN_PX}px`);
  }, [table, width]);
  return width;
}
