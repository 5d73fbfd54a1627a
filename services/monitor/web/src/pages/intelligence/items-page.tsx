import { useCallback, useMemo } from 'react';
import { optional, text, type Values } from '../../address/fields.ts';
import { useAddress } from '../../address/use-address.ts';
import { keyOf } from '../../api/query.ts';
import { request } from '../../api/request.ts';
import { usePages } from '../../api/use-pages.ts';
import { SelectField } from '../../components/select-field.tsx';
import { plural } from '../../format/number.ts';
import { useGo } from '../../navigation/use-go.ts';
import { useRepo } from '../../navigation/use-repo.ts';
import { EmptyNote } from '../../page/empty-note.tsx';
import { FailureNote } from '../../page/failure-note.tsx';
import layout from '../../page/layout.module.css';
import { Page } from '../../page/page.tsx';
import { Skeleton } from '../../page/skeleton.tsx';
import { DataTable } from '../../table/data-table.tsx';
import { SearchBox } from '../../table/search-box.tsx';
import { ChooseRepo } from '../choose-repo.tsx';
import { COLUMNS, words } from './columns.tsx';
import type { Item } from './item-plans.ts';

const STATUSES = ['proposed', 'approved', 'observed', 'candidate', 'dismissed', 'superseded'] as const;
const KINDS = [
  'architecture',
  'invariant',
  'workflow_playbook',
  'test_strategy',
  'failure_pattern',
  'coupling',
  'operator_preference',
  'design_decision',
  'risk_area',
  'implementation_note',
] as const;
const FIELDS = { status: optional(STATUSES), kind: optional(KINDS), tag: text(50), sort: text(30) };
const PAGE = 500;
const POLL_MS = 15_000;
const RANK = new Map<string, number>(STATUSES.map((status, place) => [status, place]));

const idOf = ({ id }: Item): string => id;
const choicesOf = <T extends string>(all: string, values: readonly T[]) => [
  { value: '' as const, label: all },
  ...values.map((value) => ({ value, label: words(value) })),
];

/** What do we believe, and may agents use it? */
export default function ItemsPage() {
  const { repo } = useRepo();
  if (repo === undefined) {
    return (
      <Page title="Intelligence">
        <ChooseRepo what="what is known about it" />
      </Page>
    );
  }
  return <ItemsOf repo={repo} />;
}

function ItemsOf({ repo }: { repo: string }) {
  const { values, set, rejected } = useAddress(FIELDS);
  const { status, kind, tag } = values;
  const go = useGo();
  const filter = useMemo(
    () => ({ repo, ...(status && { status }), ...(kind && { kind }), ...(tag && { tag }), limit: PAGE }),
    [repo, status, kind, tag],
  );
  const load = useCallback(
    (offset: number, signal: AbortSignal) => request('listIntelligence', { query: { ...filter, offset } }, signal),
    [filter],
  );
  const { query, items, total, loadMore } = usePages<Item>({
    key: keyOf('listIntelligence', { query: filter }),
    load,
    idOf,
    pollMs: POLL_MS,
  });
  // What waits for a decision comes first.
  const queue = useMemo(() => items.toSorted((a, b) => (RANK.get(a.status) ?? 0) - (RANK.get(b.status) ?? 0)), [items]);
  const isFiltered = status !== '' || kind !== '' || tag !== '';
  return (
    <Page
      title="Intelligence"
      rejected={rejected}
      actions={<span className={layout.muted}>{total === null ? '' : plural(total, 'item')}</span>}
    >
      <Filters values={values} set={set} />
      {query.error && (
        <FailureNote what="The items could not be read" error={query.error} onRetry={() => void query.refetch()} />
      )}
      {query.data === undefined ? (
        !query.error && <Skeleton height={400} />
      ) : (
        <DataTable
          label="Intelligence items, proposed ones first"
          columns={COLUMNS}
          rows={queue}
          keyOf={idOf}
          order={values.sort}
          onOrder={(sort) => set({ sort })}
          onOpen={({ id }) => go(`/knowledge/items/${id}`)}
          onPeek={({ id }) => go(`/knowledge/items/${id}`)}
          onEnd={loadMore}
          look={({ status: each }) => (each === 'dismissed' || each === 'superseded' ? 'muted' : undefined)}
          empty={
            <EmptyNote title={isFiltered ? 'No item matches these filters.' : 'Agents have reported nothing yet.'} />
          }
        />
      )}
    </Page>
  );
}

type Set = ReturnType<typeof useAddress<typeof FIELDS>>['set'];

function Filters({ values, set }: { values: Values<typeof FIELDS>; set: Set }) {
  const { status, kind, tag } = values;
  const onTag = useCallback((value: string) => set({ tag: value }), [set]);
  return (
    <search className={layout.filters}>
      <SelectField
        label="Status"
        hideLabel
        choices={choicesOf('Any status', STATUSES)}
        value={status}
        onChange={(next) => set({ status: next }, { push: true })}
      />
      <SelectField
        label="Kind"
        hideLabel
        choices={choicesOf('Any kind', KINDS)}
        value={kind}
        onChange={(next) => set({ kind: next }, { push: true })}
      />
      <SearchBox label="Tag" value={tag} onChange={onTag} isMain isNarrow />
    </search>
  );
}
