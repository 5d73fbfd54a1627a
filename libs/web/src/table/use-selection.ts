import { useCallback, useMemo, useRef, useState } from 'react';
import { keysBetween } from './keys-between.ts';

export interface Selection {
  keys: ReadonlySet<string>;
  toggle(key: string): void;
  /** Selects from the latest toggled row to this one, in the order of `all`. */
  extend(key: string, all: readonly string[]): void;
  set(keys: Iterable<string>): void;
  clear(): void;
}

/** Selected rows of a table, by their keys. */
export function useSelection(): Selection {
  const [keys, setKeys] = useState<ReadonlySet<string>>(new Set());
  const anchor = useRef<string | null>(null);
  const toggle = useCallback((key: string) => {
    anchor.current = key;
    setKeys((old) => {
      const next = new Set(old);
      if (!next.delete(key)) next.add(key);
      return next;
    });
  }, []);
  const extend = useCallback((key: string, all: readonly string[]) => {
    setKeys((old) => new Set([...old, ...keysBetween(all, anchor.current ?? key, key)]));
    anchor.current = key;
  }, []);
  const set = useCallback((next: Iterable<string>) => setKeys(new Set(next)), []);
  return useMemo(() => ({ keys, toggle, extend, set, clear: () => set([]) }), [keys, toggle, extend, set]);
}
