import { useEffect, useState } from 'react';
import { afterFrame } from './timers.ts';

let hasPainted = false;

/**
 * Returns whether a page has been painted since the start: what is below the first view is rendered after
 * what is above it.
 */
export function usePainted(): boolean {
  const [isPainted, setPainted] = useState(hasPainted);
  useEffect(() => {
    if (hasPainted) return;
    return afterFrame(() => {
      hasPainted = true;
      setPainted(true);
    });
  }, []);
  return isPainted;
}
