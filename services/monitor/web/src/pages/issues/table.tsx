import { Button } from '@pipeline/web/components/button.tsx';
import { formatCount } from '@pipeline/web/format/number.ts';
import { useIsNarrow } from '@pipeline/web/shared/use-is-narrow.ts';
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
import { NoIssues } from './no-issues.tsx';
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
  const isNarrow = useIsNarrow();
  const columns = useMemo(() => columnsOf({ hasRepo, isNarrow }), [hasRepo, isNarrow]);
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
        isTall={isNarrow}
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
