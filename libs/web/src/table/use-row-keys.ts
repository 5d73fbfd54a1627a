import { type KeyboardEvent, type MouseEvent, useState } from 'react';
import { useShortcuts } from '../navigation/shortcuts.ts';
import type { Selection } from './use-selection.ts';

interface RowKeysOptions<Row> {
  rows: readonly Row[];
  /** Keys of the rows, in their order. */
  allKeys: () => readonly string[];
  onOpen?: (row: Row) => void;
  onPeek?: (row: Row) => void;
  selection?: Selection;
  scrollTo: (index: number) => void;
}

const PAGE_ROWS = 10;

type Move = (index: number, last: number) => number;

/** Moves of keys from the active row, in a list whose last row is known. */
const MOVES: ReadonlyMap<string, Move> = new Map<string, Move>([
  ['ArrowDown', (index) => index + 1],
  ['ArrowUp', (index) => index - 1],
  ['PageDown', (index) => index + PAGE_ROWS],
  ['PageUp', (index) => index - PAGE_ROWS],
  ['Home', () => 0],
  ['End', (_index, last) => last],
]);

/** The active row of a table, and the keys that move it and act on it. */
export function useRowKeys<Row>({ rows, allKeys, onOpen, onPeek, selection, scrollTo }: RowKeysOptions<Row>) {
  const [active, setActive] = useState<string | null>(null);
  const indexOf = (key: string | null): number => (key === null ? -1 : allKeys().indexOf(key));
  const index = (): number => indexOf(active);
  const moveTo = (wanted: number): void => {
    const next = Math.min(rows.length - 1, Math.max(0, wanted));
    const key = allKeys()[next];
    if (key === undefined) return;
    setActive(key);
    scrollTo(next);
  };
  const onRow = (key: string | null, run: ((row: Row) => void) | undefined): void => {
    const row = rows[indexOf(key)];
    if (row !== undefined) run?.(row);
  };
  const toggle = (): void => {
    if (active !== null) selection?.toggle(active);
  };
  const extend = (): void => {
    if (active !== null) selection?.extend(active, allKeys());
  };
  useShortcuts([
    { keys: 'j', description: 'Next row', group: 'Lists', run: () => moveTo(index() + 1) },
    { keys: 'k', description: 'Previous row', group: 'Lists', run: () => moveTo(index() - 1) },
    ...(onOpen
      ? [{ keys: 'Enter', description: 'Open the row', group: 'Lists' as const, run: () => onRow(active, onOpen) }]
      : []),
    ...(onPeek
      ? [{ keys: 'o', description: 'Peek at the row', group: 'Lists' as const, run: () => onRow(active, onPeek) }]
      : []),
    ...(selection
      ? [
          { keys: 'x', description: 'Select the row', group: 'Lists' as const, run: toggle },
          { keys: 'shift+x', description: 'Select a range', group: 'Lists' as const, run: extend },
          { keys: '*', description: 'Select all rows', group: 'Lists' as const, run: () => selection.set(allKeys()) },
        ]
      : []),
  ]);
  return {
    active,
    focus: () => index() < 0 && moveTo(0),
    onKeyDown: (event: KeyboardEvent) => {
      const target = MOVES.get(event.key)?.(index(), rows.length - 1);
      if (target === undefined && event.key !== ' ') return;
      event.preventDefault();
      if (target === undefined) toggle();
      else moveTo(target);
    },
    onPress: (key: string, event: MouseEvent) => {
      setActive(key);
      // Links and buttons of a row do what they say.
      if ((event.target as Element).closest('a, button, input')) return;
      if (event.shiftKey) selection?.extend(key, allKeys());
      else onRow(key, onPeek);
    },
    onSelect: (key: string, shift: boolean) => {
      if (shift) selection?.extend(key, allKeys());
      else selection?.toggle(key);
    },
  };
}
