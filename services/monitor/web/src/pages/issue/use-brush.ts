import { type PointerEvent, useState } from 'react';

interface Brush {
  from: number;
  to: number;
}

/** A shorter drag is a click. */
const SHORTEST = 0.01;

/** Selects a part of a width, 0 to 1, by dragging with the pointer. */
export function useBrush(onSelect: (part: Brush) => void) {
  const [brush, setBrush] = useState<Brush | null>(null);
  const placeOf = (event: PointerEvent<HTMLElement>): number => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    return Math.min(1, Math.max(0, (event.clientX - left) / Math.max(1, width)));
  };
  return {
    brush: brush && { from: Math.min(brush.from, brush.to), to: Math.max(brush.from, brush.to) },
    handlers: {
      onPointerDown: (event: PointerEvent<HTMLElement>): void => {
        if (event.button !== 0 || event.pointerType === 'touch') return; // a finger scrolls
        event.currentTarget.setPointerCapture(event.pointerId);
        setBrush({ from: placeOf(event), to: placeOf(event) });
      },
      onPointerMove: (event: PointerEvent<HTMLElement>): void => {
        if (brush) setBrush({ ...brush, to: placeOf(event) });
      },
      onPointerUp: (): void => {
        setBrush(null);
        if (brush === null || Math.abs(brush.to - brush.from) < SHORTEST) return;
        onSelect({ from: Math.min(brush.from, brush.to), to: Math.max(brush.from, brush.to) });
      },
      onPointerCancel: (): void => setBrush(null),
    },
  };
}
