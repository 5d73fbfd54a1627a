import { onOff, optional, text, type Values } from '@pipeline/web/address/fields.ts';
import { useAddress } from '@pipeline/web/address/use-address.ts';
import { usePages } from '@pipeline/web/api/use-pages.ts';
import { CopyButton } from '@pipeline/web/components/copy-button.tsx';
import { SelectField } from '@pipeline/web/components/select-field.tsx';
import { SwitchField } from '@pipeline/web/components/switch-field.tsx';
import { When } from '@pipeline/web/components/when.tsx';
import { formatCount } from '@pipeline/web/format/number.ts';
import { EmptyNote } from '@pipeline/web/page/empty-note.tsx';
import { FailureNote } from '@pipeline/web/page/failure-note.tsx';
import layout from '@pipeline/web/page/layout.module.css';
import { NamedValues } from '@pipeline/web/page/named-values.tsx';
import { Page } from '@pipeline/web/page/page.tsx';
import { Skeleton } from '@pipeline/web/page/skeleton.tsx';
import { useIsNarrow } from '@pipeline/web/shared/use-is-narrow.ts';
import { DataTable } from '@pipeline/web/table/data-table.tsx';
import { SearchBox } from '@pipeline/web/table/search-box.tsx';
import { useCallback, useMemo } from 'react';
import { keyOf } from '../../api/query.ts';
import { request } from '../../api/request.ts';
import { ScrolledText } from '../../markdown/scrolled-text.tsx';
import { SidePanel } from '../../peek/side-panel.tsx';
import { columnsOf } from './columns.tsx';
import { type KeyedEntry, keyedEntries } from './entries.ts';
import { Level } from './level.tsx';

const LEVELS = ['debug', 'info', 'warn', 'error', 'fatal'] as const;
const FIELDS = {
  level: optional(LEVELS),
  agent: text(100),
  issue: text(20),
  since: text(40),
  q: text(),
  follow: onOff(),
  entry: text(200),
};
const PAGE = 500;
const FOLLOW_MS = 2_000;
/** Further down than this the reader is reading, and rows must not move. */
const SCROLLED_PX = 40;

const LEVEL_CHOICES = [
  { value: '' as const, label: 'All levels' },
  ...LEVELS.map((level) => ({ value: level, label: level === 'fatal' ? 'Fatal only' : `${level} and above` })),
];
const SINCE_CHOICES = [
  { value: '', label: 'Any time' },
  { value: '15m', label: 'Last 15 minutes' },
  { value: '1h', label: 'Last hour' },
  { value: '24h', label: 'Last 24 hours' },
  { value: '7d', label: 'Last 7 days' },
];

const keyOfEntry = ({ key }: KeyedEntry): string => key;

/** Page of the logs of processes and agents. */
export default function LogsPage() {
  const { values, set, rejected } = useAddress(FIELDS);
  const { level, agent, issue, since, q, follow, entry } = values;
  const isNarrow = useIsNarrow();
  const filter = useMemo(
    () => ({
      ...(level && { level }),
      ...(agent && { agent }),
      ...(issue && { issue: issue.replace(/^#/, '') }),
      ...(since && { since }),
      ...(q && { search: q }),
      limit: String(PAGE),
    }),
    [level, agent, issue, since, q],
  );
  const load = useCallback(
    async (offset: number, signal: AbortSignal) => {
      const { items, page } = await request('listLogs', { query: { ...filter, offset: String(offset) } }, signal);
      return { items: keyedEntries(items), page };
    },
    [filter],
  );
  const pages = usePages({
    key: keyOf('listLogs', { query: filter }),
    load,
    idOf: keyOfEntry,
    pollMs: follow && FOLLOW_MS,
  });
  const { query, items, total } = pages;
  const open = items.find(({ key }) => key === entry);
  return (
    <Page
      title="Logs"
      rejected={rejected}
      actions={
        <div className={layout.row}>
          {total !== null && <span className={layout.muted}>{formatCount(total)} entries</span>}
          <SwitchField label="Follow" isSelected={follow} onChange={(isOn) => set({ follow: isOn })} />
        </div>
      }
    >
      <Filters values={values} set={set} />
      {query.error && (
        <FailureNote what="The logs could not be read" error={query.error} onRetry={() => void query.refetch()} />
      )}
      {query.data === undefined ? (
        !query.error && <Skeleton height={400} />
      ) : (
        <div className={layout.split} data-open={open ? true : undefined}>
          <div
            onScrollCapture={(event) => {
              if (follow && (event.target as Element).scrollTop > SCROLLED_PX) set({ follow: false });
            }}
          >
            <DataTable
              label="Log entries, newest first"
              columns={columnsOf(isNarrow)}
              rows={items}
              keyOf={keyOfEntry}
              isTall={isNarrow}
              onPeek={({ key }) => set({ entry: key === entry ? '' : key })}
              onEnd={pages.loadMore}
              empty={<NoEntries isFiltered={Object.keys(filter).length > 1} />}
            />
          </div>
          {open && <EntryPanel entry={open} onClose={() => set({ entry: '' })} />}
        </div>
      )}
    </Page>
  );
}

/** An address may hold any time or duration. */
const withChosen = (since: string) =>
  SINCE_CHOICES.some(({ value }) => value === since)
    ? SINCE_CHOICES
    : [...SINCE_CHOICES, { value: since, label: `Since ${since}` }];

function NoEntries({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return <EmptyNote title="No log entry matches these filters." />;
  return (
    <EmptyNote title="There are no log entries.">
      <p>
        The monitor reads the log files in the directory of its variable <code>LOG_DIR</code>. Without it, and while the
        directory is missing or cannot be read, the list is empty.
      </p>
    </EmptyNote>
  );
}

type Set = ReturnType<typeof useAddress<typeof FIELDS>>['set'];

function Filters({ values, set }: { values: Values<typeof FIELDS>; set: Set }) {
  const { level, agent, issue, since, q } = values;
  const change = useCallback((name: 'agent' | 'issue' | 'q') => (value: string) => set({ [name]: value }), [set]);
  const onAgent = useMemo(() => change('agent'), [change]);
  const onIssue = useMemo(() => change('issue'), [change]);
  const onSearch = useMemo(() => change('q'), [change]);
  return (
    <search className={layout.filters}>
      <SearchBox label="Search the messages" value={q} onChange={onSearch} isMain />
      <SelectField
        label="Level"
        hideLabel
        choices={LEVEL_CHOICES}
        value={level}
        onChange={(next) => set({ level: next }, { push: true })}
      />
      <SelectField
        label="Time"
        hideLabel
        choices={withChosen(since)}
        value={since}
        onChange={(next) => set({ since: next }, { push: true })}
      />
      <SearchBox label="Agent" value={agent} onChange={onAgent} isNarrow />
      <SearchBox label="Issue" value={issue} onChange={onIssue} isNarrow />
    </search>
  );
}

/** A log entry with its whole message and context. */
function EntryPanel({ entry, onClose }: { entry: KeyedEntry; onClose: () => void }) {
  const { key: _, ...line } = entry;
  const { context } = line;
  return (
    <SidePanel title={`Log entry of ${entry.agent}`} onClose={onClose}>
      <NamedValues
        facts={[
          ['Time', <When key="time" at={entry.timestamp} as="time" />],
          ['Age', <When key="age" at={entry.timestamp} />],
          ['Level', <Level key="level" level={entry.level} />],
        ]}
      />
      <p className={layout.text}>{entry.msg}</p>
      {Object.keys(context).length > 0 && (
        <ScrolledText className={layout.code}>{JSON.stringify(context, null, 2)}</ScrolledText>
      )}
      <p className={layout.row}>
        <CopyButton text={JSON.stringify(line)} what="line as JSON" />
        <span className={layout.muted}>Copy the line as JSON</span>
      </p>
    </SidePanel>
  );
}
