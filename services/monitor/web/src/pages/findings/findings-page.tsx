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
import { useRepo } from '../../navigation/use-repo.ts';
import { ChooseRepo } from '../choose-repo.tsx';
import { COLUMNS } from './columns.tsx';
import { FindingPanel } from './finding-panel.tsx';
import type { Finding } from './finding-plans.ts';

const STATUSES = ['open', 'accepted', 'resolved', 'dismissed', 'superseded'] as const;
const SEVERITIES = ['critical', 'high', 'medium', 'low', 'info'] as const;
const FIELDS = {
  status: optional(STATUSES),
  severity: optional(SEVERITIES),
  category: text(100),
  sort: text(30),
  finding: text(60),
};
const PAGE = 200;
const POLL_MS = 15_000;

const idOf = ({ id }: Finding): string => id;
const choicesOf = <T extends string>(all: string, values: readonly T[]) => [
  { value: '' as const, label: all },
  ...values.map((value) => ({ value, label: value })),
];

/** Page of the findings of agents. */
export default function FindingsPage() {
  const { repo } = useRepo();
  if (repo === undefined) {
    return (
      <Page title="Findings">
        <ChooseRepo what="its findings" />
      </Page>
    );
  }
  return <FindingsOf repo={repo} />;
}

function FindingsOf({ repo }: { repo: string }) {
  const { values, set, rejected } = useAddress(FIELDS);
  const { status, severity, category } = values;
  const filter = useMemo(
    () => ({
      repo,
      ...(status && { status }),
      ...(severity && { severity }),
      ...(category && { category }),
      limit: PAGE,
    }),
    [repo, status, severity, category],
  );
  const load = useCallback(
    (offset: number, signal: AbortSignal) => request('listFindings', { query: { ...filter, offset } }, signal),
    [filter],
  );
  const { query, items, total, loadMore } = usePages<Finding>({
    key: keyOf('listFindings', { query: filter }),
    load,
    idOf,
    pollMs: POLL_MS,
    isWhole: values.sort !== '',
  });
  const open = items.find(({ id }) => id === values.finding);
  const isFiltered = status !== '' || severity !== '' || category !== '';
  return (
    <Page
      title="Findings"
      rejected={rejected}
      actions={<span className={layout.muted}>{total === null ? '' : plural(total, 'finding')}</span>}
    >
      <Filters values={values} set={set} />
      {query.error && (
        <FailureNote what="The findings could not be read" error={query.error} onRetry={() => void query.refetch()} />
      )}
      {query.data === undefined ? (
        !query.error && <Skeleton height={400} />
      ) : (
        <div className={layout.split} data-open={open ? true : undefined}>
          <DataTable
            label="Findings"
            columns={COLUMNS}
            rows={items}
            keyOf={idOf}
            order={values.sort}
            onOrder={(sort) => set({ sort })}
            onPeek={({ id }) => set({ finding: id === values.finding ? '' : id })}
            onEnd={loadMore}
            look={({ status: each }) => (each === 'open' || each === 'accepted' ? undefined : 'muted')}
            empty={
              <EmptyNote
                title={isFiltered ? 'No finding matches these filters.' : 'Agents have reported no findings.'}
              />
            }
          />
          {open && <FindingPanel finding={open} repo={repo} onClose={() => set({ finding: '' })} />}
        </div>
      )}
    </Page>
  );
}

type Set = ReturnType<typeof useAddress<typeof FIELDS>>['set'];

function Filters({ values, set }: { values: Values<typeof FIELDS>; set: Set }) {
  const { status, severity, category } = values;
  const onCategory = useCallback((value: string) => set({ category: value }), [set]);
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
        label="Severity"
        hideLabel
        choices={choicesOf('Any severity', SEVERITIES)}
        value={severity}
        onChange={(next) => set({ severity: next }, { push: true })}
      />
      <SearchBox label="Category" value={category} onChange={onCategory} isMain isNarrow />
    </search>
  );
}
