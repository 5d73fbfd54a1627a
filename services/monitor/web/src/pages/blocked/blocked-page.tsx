import { text } from '@pipeline/web/address/fields.ts';
import { useAddress } from '@pipeline/web/address/use-address.ts';
import { Button } from '@pipeline/web/components/button.tsx';
import { StateChip } from '@pipeline/web/components/state-chip.tsx';
import { TitleText } from '@pipeline/web/components/title-text.tsx';
import { When } from '@pipeline/web/components/when.tsx';
import { formatCount, plural } from '@pipeline/web/format/number.ts';
import { inWords } from '@pipeline/web/format/reasons.ts';
import { EmptyNote } from '@pipeline/web/page/empty-note.tsx';
import layout from '@pipeline/web/page/layout.module.css';
import { Page } from '@pipeline/web/page/page.tsx';
import type { Column } from '@pipeline/web/table/column.ts';
import { DataTable } from '@pipeline/web/table/data-table.tsx';
import { type Selection, useSelection } from '@pipeline/web/table/use-selection.ts';
import { useQuery } from '@tanstack/react-query';
import { type BulkAction, bulkPlan } from '../../actions/bulk-actions.ts';
import { IssueAction } from '../../actions/issue-action.tsx';
import { startAction } from '../../actions/perform.ts';
import { read } from '../../api/query.ts';
import { IssueLink } from '../../navigation/issue-link.tsx';
import { issuePath } from '../../navigation/issue-path.ts';
import { useGo } from '../../navigation/use-go.ts';
import { useRepo } from '../../navigation/use-repo.ts';
import { Panel } from '../../page/panel.tsx';
import { IssuePeek } from '../../peek/issue-peek.tsx';
import styles from './blocked.module.css';
import { type BlockedGroup, type BlockedIssue, groupsOf, repoOf } from './groups.ts';

const BLOCKED_COLUMNS: readonly Column<BlockedIssue>[] = [
  {
    id: 'issue',
    header: 'Issue',
    width: 'minmax(110px, 1fr)',
    sort: ({ issueNumber }) => issueNumber,
    cell: (issue) => <IssueLink repo={repoOf(issue)} issueNumber={issue.issueNumber} tabIndex={-1} />,
  },
  {
    id: 'title',
    header: 'Title',
    width: 'minmax(120px, 2fr)',
    from: 420,
    sort: ({ title }) => title,
    cell: (issue) => (
      <>
        <span title={issue.title}>
          <TitleText text={issue.title} />
        </span>
        <IssueAction repo={repoOf(issue)} issueNumber={issue.issueNumber} />
      </>
    ),
  },
  {
    id: 'state',
    header: 'State',
    width: 'minmax(110px, 160px)',
    from: 620,
    sort: ({ state }) => state,
    cell: ({ state }) => <StateChip state={state} />,
  },
  {
    id: 'since',
    header: 'For',
    width: '84px',
    align: 'end',
    sort: ({ blockedSince }) => (blockedSince === null ? null : -Date.parse(blockedSince)),
    cell: ({ blockedSince }) => <When at={blockedSince} as="since" />,
  },
  {
    id: 'error',
    header: 'Last error',
    width: 'minmax(120px, 2fr)',
    from: 760,
    cell: ({ lastError }) => <span title={lastError ?? undefined}>{lastError}</span>,
  },
];

const FIELDS = { group: text(8_000), peek: text(320), sort: text(30) };
const POLL_MS = 5_000;

const keyOf = (issue: BlockedIssue): string => `${repoOf(issue)}/${issue.issueNumber}`;
const targetsOf = (issues: readonly BlockedIssue[]) =>
  issues.map((issue) => ({ repo: repoOf(issue), issueNumber: issue.issueNumber }));

/** Page of the blocked issues by reason, with actions that repair many at once. */
export default function BlockedPage() {
  const { repo } = useRepo();
  const { values, set, rejected } = useAddress(FIELDS);
  const query = useQuery(read('listBlockedIssues', {}, POLL_MS));
  const issues = (query.data?.issues ?? []).filter((issue) => repo === undefined || repoOf(issue) === repo);
  const groups = groupsOf(issues);
  const { group, peek } = values;
  return (
    <Page title="Blocked" rejected={rejected}>
      <div className={layout.split} data-open={peek !== '' || undefined}>
        <Panel
          title={query.data ? plural(issues.length, 'blocked issue') : 'Blocked issues'}
          metrics={['blocked']}
          query={query}
          polledAt={query.data?.polledAt}
          height={400}
        >
          {() =>
            groups.length === 0 ? (
              <EmptyNote tone="good" title="Nothing is blocked." />
            ) : (
              <ul className={styles.groups}>
                {groups.map((each) => (
                  <li key={each.key}>
                    <GroupHead
                      group={each}
                      isOpen={each.key === group}
                      onToggle={() => set({ group: each.key === group ? '' : each.key })}
                    />
                    {each.key === group && (
                      <GroupTable
                        group={each}
                        sort={values.sort}
                        onSort={(sort) => set({ sort })}
                        onPeek={(name) => set({ peek: name === peek ? '' : name })}
                      />
                    )}
                  </li>
                ))}
              </ul>
            )
          }
        </Panel>
        {peek !== '' && <IssuePeek name={peek} onClose={() => set({ peek: '' })} />}
      </div>
    </Page>
  );
}

function GroupHead({ group, isOpen, onToggle }: { group: BlockedGroup; isOpen: boolean; onToggle: () => void }) {
  const targets = targetsOf(group.issues);
  const begin = (action: BulkAction): void => startAction(bulkPlan(action, targets, () => undefined));
  return (
    <div className={styles.head}>
      <Button kind="quiet" glyph={isOpen ? 'up' : 'down'} aria-expanded={isOpen} onPress={onToggle}>
        {formatCount(group.issues.length)}
      </Button>
      <div className={styles.what}>
        <p className={styles.reason}>{inWords(group.reason)}</p>
        {group.sample && <p className={styles.sample}>{group.sample}</p>}
        <p className={styles.muted}>
          first <When at={group.first} />, last <When at={group.last} />
        </p>
      </div>
      <Button onPress={() => begin('retry')}>Retry group …</Button>
      <Button onPress={() => begin('unblock')}>Unblock group …</Button>
    </div>
  );
}

interface GroupTableProps {
  group: BlockedGroup;
  sort: string;
  onSort: (sort: string) => void;
  onPeek: (name: string) => void;
}

function GroupTable({ group, sort, onSort, onPeek }: GroupTableProps) {
  const go = useGo();
  const selection = useSelection();
  return (
    <div className={styles.table}>
      {selection.keys.size > 0 && <SelectedActions group={group} selection={selection} />}
      <DataTable<BlockedIssue>
        label={`Blocked by ${inWords(group.reason)}`}
        columns={BLOCKED_COLUMNS}
        rows={group.issues}
        keyOf={keyOf}
        order={sort}
        onOrder={onSort}
        selection={selection}
        onOpen={(issue) => go(issuePath(repoOf(issue), issue.issueNumber))}
        onPeek={(issue) => onPeek(keyOf(issue))}
        empty={null}
      />
    </div>
  );
}

function SelectedActions({ group, selection }: { group: BlockedGroup; selection: Selection }) {
  const targets = targetsOf(group.issues.filter((issue) => selection.keys.has(keyOf(issue))));
  return (
    <div className={styles.selected} role="toolbar" aria-label="Selected issues">
      <span role="status">{formatCount(targets.length)} selected</span>
      <Button onPress={() => startAction(bulkPlan('retry', targets, selection.clear))}>Retry …</Button>
      <Button onPress={() => startAction(bulkPlan('unblock', targets, selection.clear))}>Unblock …</Button>
      <Button onPress={() => startAction(bulkPlan('cancel', targets, selection.clear))}>Cancel …</Button>
      <Button kind="quiet" glyph="close" aria-label="Clear the selection" onPress={selection.clear} />
    </div>
  );
}
