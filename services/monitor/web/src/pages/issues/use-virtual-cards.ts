import { useVirtualizer } from '@tanstack/react-virtual';
import type { RefObject } from 'react';

const CARD_PX = 92;

/** Returns the cards in view with their places, and the height of all. */
export function useVirtualCards(cards: readonly unknown[], scroller: RefObject<HTMLElement | null>) {
  const virtual = useVirtualizer({
    count: cards.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => CARD_PX,
    overscan: 4,
  });
  return { items: virtual.getVirtualItems(), total: virtual.getTotalSize() };
}
