import { useMemo } from 'react';
import { lazily } from '../shared/lazily.ts';

/** Keys of rows: that at an index, and those of all rows, which are made when an action needs them: a list may have ten thousand. */
export function useKeys<Row>(rows: readonly Row[], keyOf: (row: Row) => string) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key of a row is the same by every `keyOf` of a page.
  return useMemo(
    () => ({
      keyAt: (index: number): string => {
        const row = rows[index];
        return row === undefined ? '' : keyOf(row);
      },
      allKeys: lazily(() => rows.map(keyOf)),
    }),
    [rows],
  );
}
