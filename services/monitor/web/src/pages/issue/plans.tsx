import { EmptyNote } from '@pipeline/web/page/empty-note.tsx';
import { useQuery } from '@tanstack/react-query';
import { read } from '../../api/query.ts';
import type { IssueInput } from '../../api/types.ts';
import { Panel } from '../../page/panel.tsx';
import styles from './issue.module.css';
import { PlanVersionText } from './plan-version.tsx';

const LIMIT = 20;

/** Every version of the plan that needed an approval, newest first, with its author, its answer and the reason. */
export function Plans({ input }: { input: IssueInput }) {
  const query = useQuery(read('listPlans', { ...input, query: { ...input.query, limit: LIMIT } }));
  return (
    <Panel title="Plans" query={query} height={300}>
      {() =>
        query.data?.items.length === 0 ? (
          <EmptyNote title="No plan of this issue needed an approval." />
        ) : (
          <>
            <ul className={styles.list}>
              {query.data?.items.map((plan) => (
                <li key={plan.version} className={styles.block}>
                  <details>
                    <summary>
                      Version {plan.version} <span className={styles.muted}>{plan.status}</span>
                    </summary>
                    <PlanVersionText plan={plan} />
                  </details>
                </li>
              ))}
            </ul>
            {query.data?.page.hasMore && <p className={styles.muted}>1–{LIMIT}, older ones are not shown</p>}
          </>
        )
      }
    </Panel>
  );
}
