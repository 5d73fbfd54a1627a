import { When } from '@pipeline/web/components/when.tsx';
import { PageLink } from '@pipeline/web/navigation/page-link.tsx';
import { EmptyNote } from '@pipeline/web/page/empty-note.tsx';
import { useQuery } from '@tanstack/react-query';
import { memo } from 'react';
import type { Alert } from '../../api/types.ts';
import { issuePath } from '../../navigation/issue-path.ts';
import { Panel } from '../../page/panel.tsx';
import styles from './overview.module.css';
import { type OfRepo, overviewReads } from './overview-reads.ts';

const RANK: Readonly<Record<Alert['severity'], number>> = { critical: 0, warning: 1, info: 2 };
const MOST_SHOWN = 8;

/** Open alerts, the most severe first. */
export function AlertsPanel({ repo }: OfRepo) {
  const query = useQuery(overviewReads(repo).alerts);
  const alerts = (query.data?.items ?? []).toSorted((a, b) => RANK[a.severity] - RANK[b.severity]);
  return (
    <Panel title="Alerts" query={query} height={160}>
      {() =>
        alerts.length === 0 ? (
          <EmptyNote tone="good" title="No open alerts" />
        ) : (
          <ul className={styles.list}>
            {alerts.slice(0, MOST_SHOWN).map((alert) => (
              <AlertLine key={alert.id} alert={alert} />
            ))}
            {alerts.length > MOST_SHOWN && <li className={styles.muted}>and {alerts.length - MOST_SHOWN} more</li>}
          </ul>
        )
      }
    </Panel>
  );
}

const AlertLine = memo(function AlertLine({ alert }: { alert: Alert }) {
  const { severity, message, repo, issueNumber, firstSeenAt, count } = alert;
  return (
    <li className={styles.line}>
      <span className={severity === 'info' ? undefined : styles[severity]}>{severity}</span>
      <span className={styles.main}>
        {repo && issueNumber ? <PageLink to={issuePath(repo, issueNumber)}>{message}</PageLink> : message}
      </span>
      <span className={styles.muted}>
        <When at={firstSeenAt} />
        {count > 1 && `, ${count} times`}
      </span>
    </li>
  );
});
