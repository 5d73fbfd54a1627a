import { useCallback, useRef } from 'react';

/** Returns the same function at every render, which calls the latest one: for events of memoised components. */
export function useStableCallback<Args extends unknown[], Result>(
  run: (...args: Args) => Result,
): (...args: Args) => Result {
  const latest = useRef(run);
  latest.current = run;
  return useCallback((...args) => latest.current(...args), []);
}
