import { Glyph } from '@pipeline/web/glyphs/glyph.tsx';
import type { Reply } from '../../api/types.ts';
import { CHECK_LOOKS } from '../../checks/check-looks.ts';
import styles from './issue.module.css';

type Check = Reply<'explainIssueTo'>['checks'][number];

const ORDER = Object.keys(CHECK_LOOKS);

/** The checks of the pull request as the host reports them, failed ones first, each with its page on the host. */
export function Checks({ checks }: { checks: readonly Check[] }) {
  if (checks.length === 0) return null;
  const sorted = checks.toSorted((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state));
  return (
    <ul className={styles.checks} aria-label="Checks of the pull request">
      {sorted.map(({ name, state, conclusion, url }) => (
        <li key={name} className={styles.check} title={conclusion ?? undefined}>
          <Glyph name={CHECK_LOOKS[state].glyph} colour={CHECK_LOOKS[state].colour} />
          {url === null || !/^https?:\/\//i.test(url) ? (
            name
          ) : (
            <a href={url} target="_blank" rel="noopener noreferrer">
              {name}
            </a>
          )}
          <span className={styles.muted}>{CHECK_LOOKS[state].word}</span>
        </li>
      ))}
    </ul>
  );
}
