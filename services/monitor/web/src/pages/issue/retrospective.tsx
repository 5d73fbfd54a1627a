import { When } from '@pipeline/web/components/when.tsx';
import { EmptyNote } from '@pipeline/web/page/empty-note.tsx';
import { useQuery } from '@tanstack/react-query';
import { read } from '../../api/query.ts';
import type { IssueInput } from '../../api/types.ts';
import { ScrolledText } from '../../markdown/scrolled-text.tsx';
import { Panel } from '../../page/panel.tsx';
import styles from './issue.module.css';

const PARTS = {
  plannedFiles: 'Planned files',
  actualFiles: 'Changed files',
  failures: 'Failures',
  lessons: 'Lessons',
} as const;
const PART_NAMES = Object.keys(PARTS) as (keyof typeof PARTS)[];

/** Lessons from a completed issue. */
export function Retrospective({ input }: { input: IssueInput }) {
  const query = useQuery(read('issueRetrospective', input));
  const found = query.data?.retrospective;
  return (
    <Panel title="Retrospective" query={query} height={200}>
      {() =>
        !found ? (
          <EmptyNote title="There is no retrospective: it is written after the issue is done." />
        ) : (
          <div className={styles.head}>
            <p className={styles.muted}>
              {found.outcomeClassification ?? found.status}, <When at={found.createdAt} />
            </p>
            <p>{found.summary}</p>
            {PART_NAMES.map(
              (name) =>
                found[name] !== null && (
                  <details key={name}>
                    <summary>{PARTS[name]}</summary>
                    <ScrolledText className={styles.text}>{JSON.stringify(found[name], null, 2)}</ScrolledText>
                  </details>
                ),
            )}
          </div>
        )
      }
    </Panel>
  );
}
