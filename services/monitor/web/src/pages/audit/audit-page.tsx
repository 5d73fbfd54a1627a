import { optional, text } from '@pipeline/web/address/fields.ts';
import { useAddress } from '@pipeline/web/address/use-address.ts';
import { Button } from '@pipeline/web/components/button.tsx';
import { CopyButton } from '@pipeline/web/components/copy-button.tsx';
import { type Choice, SelectField } from '@pipeline/web/components/select-field.tsx';
import { When } from '@pipeline/web/components/when.tsx';
import { inWords } from '@pipeline/web/format/reasons.ts';
import { PageLink } from '@pipeline/web/navigation/page-link.tsx';
import { EmptyNote } from '@pipeline/web/page/empty-note.tsx';
import { FailureNote } from '@pipeline/web/page/failure-note.tsx';
import layout from '@pipeline/web/page/layout.module.css';
import { NamedValues } from '@pipeline/web/page/named-values.tsx';
import { Page } from '@pipeline/web/page/page.tsx';
import { Skeleton } from '@pipeline/web/page/skeleton.tsx';
import type { Column } from '@pipeline/web/table/column.ts';
import { DataTable } from '@pipeline/web/table/data-table.tsx';
import { SearchBox } from '@pipeline/web/table/search-box.tsx';
import { serverClock } from '@pipeline/web/timing/server-clock.ts';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import { keyOf } from '../../api/query.ts';
import { request } from '../../api/request.ts';
import { ROUTES } from '../../api/routes.generated.ts';
import type { Reply } from '../../api/types.ts';
import { ScrolledText } from '../../markdown/scrolled-text.tsx';
import { issuePath } from '../../navigation/issue-path.ts';
import { useRepo } from '../../navigation/use-repo.ts';
import { SidePanel } from '../../peek/side-panel.tsx';

type AuditEntry = Reply<'listAudit'>['items'][number];

const COLUMNS: readonly Column<AuditEntry>[] = [
  { id: 'time', header: 'Time', width: '124px', from: 420, cell: ({ at }) => <When at={at} as="second" /> },
  { id: 'actor', header: 'Who', width: 'minmax(80px, 0.6fr)', cell: ({ actor }) => <span title={actor}>{actor}</span> },
  {
    id: 'action',
    header: 'What',
    width: 'minmax(90px, 0.8fr)',
    cell: ({ action }) => <span title={action}>{inWords(action)}</span>,
  },
  { id: 'target', header: 'On', width: 'minmax(90px, 1fr)', cell: (entry) => <Target entry={entry} /> },
  {
    id: 'reason',
    header: 'Why',
    width: 'minmax(0, 2fr)',
    from: 700,
    cell: ({ reason }) => <span title={reason ?? undefined}>{reason}</span>,
  },
];

const DAYS = { '1': 'Last 24 hours', '7': 'Last 7 days', '30': 'Last 30 days' } as const;
const FIELDS = {
  actor: text(200),
  action: text(100),
  target: text(300),
  days: optional(['1', '7', '30']),
  entry: text(40),
};
const TIMES: readonly Choice<'' | keyof typeof DAYS>[] = [
  { value: '', label: 'Any time' },
  ...Object.entries(DAYS).map(([value, label]) => ({ value: value as keyof typeof DAYS, label })),
];
const PAGE = 200;
const POLL_MS = 10_000;
const DAY_MS = 86_400_000;

const idOf = ({ id }: AuditEntry): string => id;

/** Page of the audit log: who did what, when and why. */
export default function AuditPage() {
  const { repo } = useRepo();
  const { values, set, rejected } = useAddress(FIELDS);
  const { actor, action, days, entry } = values;
  const target = values.target || repo || '';
  const filter = useMemo(
    () => ({
      ...(actor && { actor }),
      ...(action && { action }),
      ...(target && { target }),
      ...(days && { since: new Date(serverClock.now() - Number(days) * DAY_MS).toISOString() }),
    }),
    [actor, action, target, days],
  );
  const query = useInfiniteQuery({
    queryKey: [...keyOf('listAudit', { query: filter }), 'pages'],
    queryFn: ({ pageParam: after, signal }) =>
      request('listAudit', { query: { ...filter, limit: PAGE, ...(after !== '' && { after }) } }, signal),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next ?? undefined,
    refetchInterval: POLL_MS,
  });
  const items = useMemo(() => query.data?.pages.flatMap((page) => page.items) ?? [], [query.data]);
  const open = items.find(({ id }) => id === entry);
  const canLoad = query.hasNextPage && !query.isFetchingNextPage;
  return (
    <Page title="Audit" rejected={rejected} actions={<Exports filter={filter} />}>
      <Filters values={values} set={set} />
      {query.error && (
        <FailureNote what="The audit could not be read" error={query.error} onRetry={() => void query.refetch()} />
      )}
      {query.data === undefined ? (
        !query.error && <Skeleton height={400} />
      ) : (
        <div className={layout.split} data-open={open ? true : undefined}>
          <DataTable
            label="Actions, newest first"
            columns={COLUMNS}
            rows={items}
            keyOf={idOf}
            onPeek={({ id }) => set({ entry: id === entry ? '' : id })}
            onEnd={canLoad ? () => void query.fetchNextPage() : undefined}
            empty={
              <EmptyNote
                title={Object.keys(filter).length > 0 ? 'No action matches these filters.' : 'No one has acted yet.'}
              />
            }
          />
          {open && <AuditPanel entry={open} onClose={() => set({ entry: '' })} />}
        </div>
      )}
    </Page>
  );
}

type Address = ReturnType<typeof useAddress<typeof FIELDS>>;

function Filters({ values, set }: Pick<Address, 'values' | 'set'>) {
  const onActor = useCallback((actor: string) => set({ actor }), [set]);
  const onAction = useCallback((action: string) => set({ action }), [set]);
  const onTarget = useCallback((target: string) => set({ target }), [set]);
  const isFiltered = [values.actor, values.action, values.target, values.days].some((value) => value !== '');
  return (
    <search className={layout.filters}>
      <SearchBox label="Who" value={values.actor} onChange={onActor} isMain isNarrow />
      <SearchBox label="Action" value={values.action} onChange={onAction} isNarrow />
      <SearchBox label="owner/name#7 or subject" value={values.target} onChange={onTarget} />
      <SelectField
        label="Time"
        hideLabel
        choices={TIMES}
        value={values.days}
        onChange={(days) => set({ days }, { push: true })}
      />
      {isFiltered && (
        <Button
          kind="quiet"
          glyph="close"
          onPress={() => set({ actor: '', action: '', target: '', days: '' }, { push: true })}
        >
          Clear filters
        </Button>
      )}
    </search>
  );
}

/** Downloads of all matching actions. */
function Exports({ filter }: { filter: Record<string, string> }) {
  const addressOf = (format: string): string =>
    `${ROUTES.exportAudit[1]}?${new URLSearchParams({ ...filter, format })}`;
  return (
    <span className={layout.row}>
      Export
      <a href={addressOf('csv')} download>
        CSV
      </a>
      <a href={addressOf('json')} download>
        JSON
      </a>
    </span>
  );
}

/** An action with its whole reason and details. */
function AuditPanel({ entry, onClose }: { entry: AuditEntry; onClose: () => void }) {
  const { action, actor, actorType, at, reason, details } = entry;
  return (
    <SidePanel title={action} onClose={onClose}>
      <NamedValues
        facts={[
          ['Who', `${actor} (${actorType})`],
          ['On', <Target key="target" entry={entry} />],
          ['Time', <When key="time" at={at} as="second" />],
          ['Age', <When key="age" at={at} />],
        ]}
      />
      <p className={layout.text}>{reason ?? 'No reason was given.'}</p>
      {Object.keys(details).length > 0 && (
        <ScrolledText className={layout.code}>{JSON.stringify(details, null, 2)}</ScrolledText>
      )}
      <p className={layout.row}>
        <CopyButton text={JSON.stringify(entry)} what="entry as JSON" />
        <span className={layout.muted}>Copy the entry as JSON</span>
      </p>
    </SidePanel>
  );
}

/** Target of the action; an issue is a link. */
function Target({ entry: { target, repo, issueNumber } }: { entry: AuditEntry }) {
  if (repo === null || issueNumber === null) return <span title={target}>{target}</span>;
  return (
    <PageLink to={issuePath(repo, issueNumber)} title={target} tabIndex={-1}>
      {target}
    </PageLink>
  );
}
