import { useAddress } from '@pipeline/web/address/use-address.ts';
import { Button } from '@pipeline/web/components/button.tsx';
import { formatCount, plural } from '@pipeline/web/format/number.ts';
import { FailureNote } from '@pipeline/web/page/failure-note.tsx';
import layout from '@pipeline/web/page/layout.module.css';
import { Page } from '@pipeline/web/page/page.tsx';
import { Skeleton } from '@pipeline/web/page/skeleton.tsx';
import { useSignal } from '@pipeline/web/shared/use-signal.ts';
import { useMemo } from 'react';
import { useRepos } from '../../api/use-repos.ts';
import { useRepo } from '../../navigation/use-repo.ts';
import { IssuePeek } from '../../peek/issue-peek.tsx';
import { forgetNewcomers, newcomers } from '../../stream/newcomers.ts';
import { IssueBoard } from './board.tsx';
import { FIELDS } from './fields.ts';
import { IssueFilters, type IssueValues } from './filters.tsx';
import styles from './issues.module.css';
import { IssueTable } from './table.tsx';
import { useIssues } from './use-issues.ts';

/** The search of the monitor takes an issue number, or at least three characters of a title. */
const isSearch = (text: string): boolean => /^#?\d+$/.test(text.trim()) || text.trim().length >= 3;

const isSorted = ({ view, sort }: IssueValues): boolean => view === 'table' && sort !== '';

/** Page of the issues with state, time in it and cost, as a table or as a board. */
export default function IssuesPage() {
  const { repo } = useRepo();
  const repos = useRepos();
  const { values, set, rejected } = useAddress(FIELDS);
  const { state, flag, q, view, sort, peek } = values;
  const filter = useMemo(
    () => ({
      ...(repo && { repo }),
      ...(view === 'table' && state && { state }),
      ...(flag && { flag }),
      ...(isSearch(q) && { q: q.trim() }),
    }),
    [repo, state, flag, q, view],
  );
  const { query, issues, total, loadAll, isReadingAll } = useIssues(filter, isSorted(values));
  const onPeek = (name: string): void => set({ peek: name === peek ? '' : name });
  return (
    <Page
      title="Issues"
      rejected={rejected}
      actions={
        <div className={layout.row}>
          {query.data && <span className={layout.muted}>{countText(issues.length, total, isReadingAll)}</span>}
          <Button kind={view === 'table' ? 'primary' : 'plain'} onPress={() => set({ view: 'table' })}>
            Table
          </Button>
          <Button kind={view === 'board' ? 'primary' : 'plain'} onPress={() => set({ view: 'board' })}>
            Board
          </Button>
        </div>
      }
    >
      <IssueFilters values={values} set={set} />
      <NewcomersBar onShow={() => void query.refetch()} />
      {query.error && (
        <FailureNote what="The issues could not be read" error={query.error} onRetry={() => void query.refetch()} />
      )}
      <div className={layout.split} data-open={peek !== '' || undefined}>
        {query.data === undefined ? (
          !query.error && <Skeleton height={400} />
        ) : view === 'board' ? (
          <IssueBoard
            issues={issues}
            values={values}
            set={set}
            onPeek={onPeek}
            hasMore={query.hasNextPage}
            onMore={() => void query.fetchNextPage()}
          />
        ) : (
          <IssueTable
            issues={issues}
            hasRepo={repo !== undefined || repos.length === 1}
            order={sort}
            onOrder={(order) => set({ sort: order })}
            onPeek={onPeek}
            onEnd={query.hasNextPage && !query.isFetchingNextPage ? () => void query.fetchNextPage() : undefined}
            total={total}
            loadAll={loadAll}
            values={values}
            set={set}
          />
        )}
        {peek !== '' && <IssuePeek name={peek} onClose={() => set({ peek: '' })} />}
      </div>
    </Page>
  );
}

function countText(loaded: number, total: number | null, isReadingAll: boolean): string {
  if (total === null) return `${loaded} found`;
  return isReadingAll ? `${formatCount(loaded)} of ${plural(total, 'issue')} sorted` : plural(total, 'issue');
}

/** Issues that are not in the list yet: rows do not move under the reader's eyes. */
function NewcomersBar({ onShow }: { onShow: () => void }) {
  const { size } = useSignal(newcomers);
  if (size === 0) return null;
  return (
    <p className={styles.newcomers} role="status">
      {plural(size, 'issue')} changed outside of this list
      <Button
        onPress={() => {
          forgetNewcomers();
          onShow();
        }}
      >
        Show
      </Button>
    </p>
  );
}
