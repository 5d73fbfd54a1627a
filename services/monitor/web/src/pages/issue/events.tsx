import { StateChip } from '@pipeline/web/components/state-chip.tsx';
import { When } from '@pipeline/web/components/when.tsx';
import { EmptyNote } from '@pipeline/web/page/empty-note.tsx';
import { useQuery } from '@tanstack/react-query';
import { read } from '../../api/query.ts';
import type { IssueInput } from '../../api/types.ts';
import { Panel } from '../../page/panel.tsx';
import styles from './issue.module.css';

const LIMIT = 200;

/** Reports of agents, operators and the workflow, newest first. */
export function Events({ input }: { input: IssueInput }) {
  const query = useQuery(read('issueEvents', { ...input, query: { ...input.query, limit: LIMIT } }));
  const page = query.data?.page;
  return (
    <Panel title="Events" query={query} height={300}>
      {() =>
        query.data?.items.length === 0 ? (
          <EmptyNote title="No events yet." />
        ) : (
          <>
            <ul className={styles.list}>
              {query.data?.items.map(({ id, createdAt, actorType, actorId, status, state }) => (
                <li key={id} className={styles.line}>
                  <When at={createdAt} as="second" />
                  <span className={styles.main}>{status}</span>
                  <StateChip state={state} />
                  <span className={styles.muted}>{actorId ?? actorType}</span>
                </li>
              ))}
            </ul>
            {page?.hasMore && <p className={styles.muted}>1–{LIMIT}, older ones are not shown</p>}
          </>
        )
      }
    </Panel>
  );
}
