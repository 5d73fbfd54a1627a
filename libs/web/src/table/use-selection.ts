import { useCallback, useMemo, useRef, useState } from 'react';

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

/** Returns the keys from one to the other, both included, whichever comes first. */
export function keysBetween(all: readonly string[], from: string, to: string): readonly string[] {
  const [a, b] = [all.indexOf(from), all.indexOf(to)];
  if (b < 0) return [];
  return a < 0 ? [to] : all.slice(Math.min(a, b), Math.max(a, b) + 1);
}
