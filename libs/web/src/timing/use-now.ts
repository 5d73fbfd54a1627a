import { useSyncExternalStore } from 'react';
import { serverClock } from './server-clock.ts';
import { every } from './timers.ts';

const SECOND = 1_000;
/** Ages beside figures change together, at this step: each change is a layout and a paint of the page. */
export const AGE_STEP_MS = 10_000;
const listeners = new Set<() => void>();
let current = Math.floor(serverClock.now() / SECOND) * SECOND;
let stop: (() => void) | null = null;

function tick(): void {
  if (document.hidden) return; // a hidden page shows nothing
  current = Math.floor(serverClock.now() / SECOND) * SECOND;
  for (const listener of listeners) listener();
}

/** Calls `listener` every second while the page is visible. @returns a function that ends it. */
export function onTick(listener: () => void): () => void {
  listeners.add(listener);
  stop ??= every(SECOND, tick);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    stop?.();
    stop = null;
  };
}

/**
 * Returns the monitor's time in epoch milliseconds, from one timer for the whole page.
 * @param stepMs re-renders at most this often; a multiple of a second.
 */
export const useNow = (stepMs = SECOND): number =>
  useSyncExternalStore(onTick, () => Math.floor(current / stepMs) * stepMs);
