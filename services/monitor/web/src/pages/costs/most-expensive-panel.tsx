import { StateChip } from '@pipeline/web/components/state-chip.tsx';
import { TitleText } from '@pipeline/web/components/title-text.tsx';
import { formatUsd } from '@pipeline/web/format/money.ts';
import { formatCount } from '@pipeline/web/format/number.ts';
import { PageLink } from '@pipeline/web/navigation/page-link.tsx';
import { EmptyNote } from '@pipeline/web/page/empty-note.tsx';
import layout from '@pipeline/web/page/layout.module.css';
import { useQuery } from '@tanstack/react-query';
import { read } from '../../api/query.ts';
import { issuePath } from '../../navigation/issue-path.ts';
import { Panel } from '../../page/panel.tsx';
import styles from './most-expensive.module.css';

const READ = 500;
const SHOWN = 10;
const POLL_MS = 60_000;

/** The issues that cost most. The API cannot sort by cost, so it reports how many issues were compared. */
export function MostExpensivePanel({ repo }: { repo: string | undefined }) {
  const query = useQuery(
    read('searchIssues', { query: { ...(repo && { repo }), state: 'all', limit: READ } }, POLL_MS),
  );
  const issues = query.data?.items ?? [];
  const dearest = issues
    .filter(({ costUsd }) => costUsd > 0)
    .toSorted((a, b) => b.costUsd - a.costUsd)
    .slice(0, SHOWN);
  const isPartial = query.data?.page.hasMore === true;
  return (
    <Panel title="Most expensive issues, all time" metrics={['cost', 'unreported_costs']} query={query} height={200}>
      {() => (
        <>
          {isPartial && (
            <p className={layout.muted}>
              Of the {formatCount(issues.length)} issues that are longest in their state;{' '}
              {formatCount(query.data?.page.total)} in all.
            </p>
          )}
          {dearest.length === 0 ? (
            <EmptyNote title="No issue has a reported cost." />
          ) : (
            <ol className={styles.list}>
              {dearest.map(({ tenant, repo: slug, issueNumber, title, costUsd, state }) => (
                <li key={`${tenant}/${slug}/${issueNumber}`} className={styles.issue}>
                  <PageLink to={issuePath(slug, issueNumber)} className={styles.title}>
                    {repo ? '' : slug}#{issueNumber} <TitleText text={title} />
                  </PageLink>
                  <StateChip state={state} />
                  <span>{formatUsd(costUsd)}</span>
                </li>
              ))}
            </ol>
          )}
        </>
      )}
    </Panel>
  );
}
