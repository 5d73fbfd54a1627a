import { optional, text, type Values } from '@pipeline/web/address/fields.ts';
import { useAddress } from '@pipeline/web/address/use-address.ts';
import { usePages } from '@pipeline/web/api/use-pages.ts';
import { SelectField } from '@pipeline/web/components/select-field.tsx';
import { plural } from '@pipeline/web/format/number.ts';
import { EmptyNote } from '@pipeline/web/page/empty-note.tsx';
import { FailureNote } from '@pipeline/web/page/failure-note.tsx';
import layout from '@pipeline/web/page/layout.module.css';
import { Page } from '@pipeline/web/page/page.tsx';
import { Skeleton } from '@pipeline/web/page/skeleton.tsx';
import { DataTable } from '@pipeline/web/table/data-table.tsx';
import { SearchBox } from '@pipeline/web/table/search-box.tsx';
import { useCallback, useMemo } from 'react';
import { keyOf } from '../../api/query.ts';
import { request } from '../../api/request.ts';
import { useGo } from '../../navigation/use-go.ts';
import { useRepo } from '../../navigation/use-repo.ts';
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

/** Page of the intelligence items, with whether agents may use each. */
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
    isWhole: values.sort !== '',
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
