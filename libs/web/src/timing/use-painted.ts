import { useEffect, useState } from 'react';
import { after } from './timers.ts';

let hasPainted = false;

/**
 * Returns whether a page has been painted since the start: what is below the first view is rendered after
 * what is above it.
 */
export function usePainted(): boolean {
  const [isPainted, setPainted] = useState(hasPainted);
  useEffect(() => {
    if (hasPainted) return;
    let cancelTimer: (() => void) | undefined;
    // A frame is painted after its callbacks; a timer alone may run before the first frame.
    const frame = requestAnimationFrame(() => {
      cancelTimer = after(0, () => {
        hasPainted = true;
        setPainted(true);
      });
    });
    return () => {
      cancelAnimationFrame(frame);
      cancelTimer?.();
    };
  }, []);
  return isPainted;
}
