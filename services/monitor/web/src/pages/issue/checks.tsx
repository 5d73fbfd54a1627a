import { Glyph } from '@pipeline/web/glyphs/glyph.tsx';
import type { GlyphName } from '@pipeline/web/glyphs/glyph-paths.ts';
import type { Reply } from '../../api/types.ts';
import styles from './issue.module.css';

type Check = Reply<'explainIssueTo'>['checks'][number];

const LOOKS: Readonly<Record<Check['state'], { glyph: GlyphName; colour: string; word: string }>> = {
  failure: { glyph: 'failure', colour: '--danger', word: 'failed' },
  pending: { glyph: 'half', colour: '--warning', word: 'runs' },
  success: { glyph: 'tick', colour: '--good', word: 'passed' },
};
const ORDER = Object.keys(LOOKS);

/** The checks of the pull request as the host reports them, failed ones first, each with its page on the host. */
export function Checks({ checks }: { checks: readonly Check[] }) {
  if (checks.length === 0) return null;
  const sorted = checks.toSorted((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state));
  return (
    <ul className={styles.checks} aria-label="Checks of the pull request">
      {sorted.map(({ name, state, conclusion, url }) => (
        <li key={name} className={styles.check} title={conclusion ?? undefined}>
          <Glyph name={LOOKS[state].glyph} colour={LOOKS[state].colour} />
          {url === null || !/^https?:\/\//i.test(url) ? (
            name
          ) : (
            <a href={url} target="_blank" rel="noopener noreferrer">
              {name}
            </a>
          )}
          <span className={styles.muted}>{LOOKS[state].word}</span>
        </li>
      ))}
    </ul>
  );
}
