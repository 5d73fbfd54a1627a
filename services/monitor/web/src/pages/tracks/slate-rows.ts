import type { Reply } from '../../api/types.ts';

type Slate = NonNullable<Reply<'listTracks'>['tracks'][number]['proposal']>;
type Size = Slate[number]['size'];

/** An entry of a slate as it is edited. */
export interface SlateRow {
  /** Identity of the row while it is edited. */
  key: number;
  size: Size;
  count: string;
  theme: string;
  label: string;
}

let lastKey = 0;

const nextKey = (): number => {
  lastKey += 1;
  return lastKey;
};

export const emptyRow = (): SlateRow => ({ key: nextKey(), size: 'small', count: '1', theme: '', label: '' });

export const slateRows = (slate: Slate | null): SlateRow[] =>
  (slate ?? []).map(({ size, count, theme, label }) => ({
    key: nextKey(),
    size,
    count: String(count),
    theme: theme ?? '',
    label: label ?? '',
  }));

/** Returns the slate; null = the default one; undefined = a count is not a whole number from 1 to 50. */
export function slateOf(rows: readonly SlateRow[]): Slate | null | undefined {
  if (rows.length === 0) return null;
  if (!rows.every(({ count }) => /^(?:[1-9]|[1-4]\d|50)$/.test(count.trim()))) return undefined;
  return rows.map(({ size, count, theme, label }) => ({
    size,
    count: Number(count),
    ...(theme.trim() && { theme: theme.trim() }),
    ...(label && { label }),
  }));
}
