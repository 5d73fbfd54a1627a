import { useSyncExternalStore } from 'react';
import type { Signal } from './signal.ts';

/** Returns the value of the signal and re-renders when it changes. */
export const useSignal = <T>(signal: Signal<T>): T => useSyncExternalStore(signal.subscribe, signal.get);
