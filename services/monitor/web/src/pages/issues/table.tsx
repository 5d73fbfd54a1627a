import { Button } from '@pipeline/web/components/button.tsx';
import { formatCount } from '@pipeline/web/format/number.ts';
import { EmptyNote } from '@pipeline/web/page/empty-note.tsx';
import { labelOf } from '@pipeline/web/states/states.ts';
import { DataTable } from '@pipeline/web/table/data-table.tsx';
import { type Selection, useSelection } from '@pipeline/web/table/use-selection.ts';
import { useMemo, useState } from 'react';
import { type BulkAction, bulkPlan } from '../../actions/bulk-actions.ts';
import { startAction } from '../../actions/perform.ts';
import type { Issue } from '../../api/types.ts';
import { useGo } from '../../navigation/use-go.ts';
import { addressOf, columnsOf } from './columns.tsx';
import type { IssueValues, SetValues } from './filters.tsx';
import styles from './issues.module.css';
import { keyOfIssue } from './use-issues.ts';

interface IssueTableProps {
  issues: readonly Issue[];
  hasRepo: boolean;
  order: string;
  onOrder: (order: string) => void;
  onPeek: (name: string) => void;
  onEnd?: () => void;
  /** Number of issues that match the filters; null = unknown. */
  total: number | null;
  /** Loads every matching issue. */
  loadAll: () => Promise<readonly Issue[]>;
  values: IssueValues;
  set: SetValues;
}

/** The issues as a table, with actions on the selected ones. */
export function IssueTable({
  issues,
  hasRepo,
  order,
  onOrder,
  onPeek,
  onEnd,
  total,
  loadAll,
  values,
  set,
}: IssueTableProps) {
  const go = useGo();
  const selection = useSelection();
  const columns = useMemo(() => columnsOf(hasRepo), [hasRepo]);
  return (
    <div className={styles.list}>
      {selection.keys.size > 0 && (
        <SelectionBar issues={issues} selection={selection} total={total} loadAll={loadAll} />
      )}
      <DataTable
        label="Issues"
        columns={columns}
        rows={issues}
        keyOf={keyOfIssue}
        order={order}
        onOrder={onOrder}
        onOpen={(issue) => {
          const { to, search } = addressOf(issue);
          go(to, search as Record<string, string>);
        }}
        onPeek={(issue) => onPeek(`${issue.repo}/${issue.issueNumber}`)}
        selection={selection}
        look={({ state }) => (state === 'done' ? 'muted' : undefined)}
        onEnd={onEnd}
        empty={<NoIssues values={values} set={set} />}
      />
    </div>
  );
}

const ACTIONS: readonly { action: BulkAction; verb: string }[] = [
  { action: 'pause', verb: 'Pause' },
  { action: 'resume', verb: 'Resume' },
  { action: 'retry', verb: 'Retry' },
  { action: 'unblock', verb: 'Unblock' },
  { action: 'cancel', verb: 'Cancel' },
];

interface SelectionBarProps extends Pick<IssueTableProps, 'issues' | 'total' | 'loadAll'> {
  selection: Selection;
}

/** Actions on the selected issues. */
function SelectionBar({ issues, selection, total, loadAll }: SelectionBarProps) {
  const [isLoading, setLoading] = useState(false);
  const selectAll = async (): Promise<void> => {
    setLoading(true);
    const all = await loadAll().finally(() => setLoading(false));
    selection.set(all.map(keyOfIssue));
  };
  const chosen = issues.filter((issue) => selection.keys.has(keyOfIssue(issue)));
  return (
    <div className={styles.selection} role="toolbar" aria-label="Selected issues">
      <span role="status">{formatCount(chosen.length)} selected</span>
      {total !== null && total > chosen.length && (
        <Button kind="quiet" isDisabled={isLoading} onPress={() => void selectAll()}>
          {isLoading
            ? `Loading, ${formatCount(issues.length)} of ${formatCount(total)}`
            : `Select all ${formatCount(total)} matching`}
        </Button>
      )}
      {ACTIONS.map(({ action, verb }) => (
        <Button key={action} onPress={() => startAction(bulkPlan(action, chosen, selection.clear))}>
          {verb}
        </Button>
      ))}
      <Button kind="quiet" glyph="close" aria-label="Clear the selection" onPress={selection.clear} />
    </div>
  );
}

/** Names the filter that hides everything and offers to drop it. */
function NoIssues({ values, set }: { values: IssueValues; set: SetValues }) {
  if (values.q !== '') {
    return (
      <EmptyNote title={`No issue matches “${values.q}”.`}>
        <Button onPress={() => set({ q: '' })}>Drop the search</Button>
      </EmptyNote>
    );
  }
  if (values.state !== '' && values.state !== 'all') {
    return (
      <EmptyNote title={`No issue is in “${labelOf(values.state)}”.`}>
        <Button onPress={() => set({ state: '' })}>Show open issues</Button>
      </EmptyNote>
    );
  }
  return (
    <EmptyNote title={values.state === 'all' ? 'There are no issues.' : 'There are no open issues.'}>
      {values.state !== 'all' && <Button onPress={() => set({ state: 'all' })}>Show done issues as well</Button>}
      <p>
        Give an issue of an enabled repository the label <code>svc:enqueue</code>.
      </p>
    </EmptyNote>
  );
}
