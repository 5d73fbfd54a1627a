import { formatCount } from '@pipeline/web/format/number.ts';
import { Glyph } from '@pipeline/web/glyphs/glyph.tsx';
import type { GlyphName } from '@pipeline/web/glyphs/glyph-paths.ts';
import { PageLink } from '@pipeline/web/navigation/page-link.tsx';
import { memo } from 'react';
import styles from './overview.module.css';

/** Subject of a count, and the page that lists it. */
export interface CountTarget {
  title: string;
  glyph: GlyphName;
  colour?: string;
  to: string;
  search?: Record<string, string>;
}

/** A count that is a link to what it counts. Memoised: an event changes two of nineteen counts. */
export const CountTile = memo(function CountTile({
  target,
  count,
  note,
}: {
  target: CountTarget;
  count: number | undefined;
  /** More about what it counts. */
  note?: string;
}) {
  const { title, glyph, colour, to, search } = target;
  return (
    <PageLink to={to} search={search} className={styles.tile}>
      <span className={styles.figure} data-zero={count === 0 || undefined}>
        {formatCount(count)}
      </span>
      <span className={styles.word}>
        <Glyph name={glyph} colour={colour} />
        {title}
      </span>
      {note !== undefined && <span className={styles.note}>{note}</span>}
    </PageLink>
  );
});
