import { When } from '@pipeline/web/components/when.tsx';
import { formatRatio } from '@pipeline/web/format/number.ts';
import { inWords } from '@pipeline/web/format/reasons.ts';
import { EmptyNote } from '@pipeline/web/page/empty-note.tsx';
import { useQuery } from '@tanstack/react-query';
import { read } from '../../api/query.ts';
import type { IssueInput } from '../../api/types.ts';
import { Panel } from '../../page/panel.tsx';
import styles from './issue.module.css';

/** Findings of agents during their work on the issue. */
export function Findings({ input }: { input: IssueInput }) {
  const query = useQuery(read('listIssueFindings', input));
  return (
    <Panel title="Findings" query={query} height={300}>
      {() =>
        query.data?.items.length === 0 ? (
          <EmptyNote title="Agents reported no findings for this issue." />
        ) : (
          <ul className={styles.list}>
            {query.data?.items.map((finding) => (
              <li key={finding.id} className={styles.block}>
                <p className={styles.blockHead}>
                  {finding.title} <span className={styles.muted}>{finding.severity}</span>
                  {finding.blocksProgress && <span className={styles.bad}>blocks the merge</span>}
                </p>
                <p>{finding.summary}</p>
                {finding.recommendation && <p>{finding.recommendation}</p>}
                <p className={styles.muted}>
                  {inWords(finding.findingType)}, {finding.status}, confidence {formatRatio(finding.confidence)},{' '}
                  {finding.agentName}, <When at={finding.createdAt} />
                </p>
              </li>
            ))}
          </ul>
        )
      }
    </Panel>
  );
}
