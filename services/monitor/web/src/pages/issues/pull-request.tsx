import { Glyph } from '@pipeline/web/glyphs/glyph.tsx';
import type { Issue } from '../../api/types.ts';
import { CHECK_LOOKS } from '../../checks/check-looks.ts';
import styles from './issues.module.css';

const SUMMARIES = { failure: 'a check failed', pending: 'checks run', success: 'all checks passed' } as const;

/** The number of the pull request of an issue, with the result of its checks. */
export function PullRequest({ issue: { prNumber, checks } }: { issue: Issue }) {
  if (prNumber === null) return null;
  if (checks === null) return <>#{prNumber}</>;
  const { glyph, colour } = CHECK_LOOKS[checks];
  return (
    <span
      className={styles.pull}
      role="img"
      title={SUMMARIES[checks]}
      aria-label={`#${prNumber}, ${SUMMARIES[checks]}`}
    >
      <Glyph name={glyph} colour={colour} />#{prNumber}
    </span>
  );
}
