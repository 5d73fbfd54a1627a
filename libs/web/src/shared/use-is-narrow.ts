import { useSyncExternalStore } from 'react';

const narrow = window.matchMedia('(max-width: 479px)');

const subscribe = (onChange: () => void): (() => void) => {
  narrow.addEventListener('change', onChange);
  return () => narrow.removeEventListener('change', onChange);
};

/** Returns whether the window is as narrow as that of a phone. */
export const useIsNarrow = (): boolean => useSyncExternalStore(subscribe, () => narrow.matches);
