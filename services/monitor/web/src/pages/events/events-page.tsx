import { text } from '@pipeline/web/address/fields.ts';
import { useAddress } from '@pipeline/web/address/use-address.ts';
import { usePages } from '@pipeline/web/api/use-pages.ts';
import { Button } from '@pipeline/web/components/button.tsx';
import { CopyButton } from '@pipeline/web/components/copy-button.tsx';
import { SelectField } from '@pipeline/web/components/select-field.tsx';
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
import { useRepo } from '../../navigation/use-repo.ts';
import { SidePanel } from '../../peek/side-panel.tsx';
import { columnsOf, Subject } from './columns.tsx';
import { EVENT_TYPES, type PipelineEvent, typeLabel } from './event-types.ts';

const FIELDS = { type: text(100), issue: text(12), event: text(20) };
const PAGE = 200;
/** Only state transitions come by the stream; the other events are polled. */
const POLL_MS = 5_000;

const idOf = ({ id }: PipelineEvent): string => String(id);

/** Page of the events in order. */
export default function EventsPage() {
  const { repo } = useRepo();
  const { values, set, rejected } = useAddress(FIELDS);
  const { type, issue } = values;
  const number = /^#?\d{1,9}$/.test(issue.trim()) ? issue.trim().replace(/^#/, '') : undefined;
  const filter = useMemo(
    () => ({ ...(repo && { repo }), ...(type && { type }), ...(number && { issue: number }), limit: PAGE }),
    [repo, type, number],
  );
  const load = useCallback(
    (offset: number, signal: AbortSignal) => request('listPipelineEvents', { query: { ...filter, offset } }, signal),
    [filter],
  );
  const { query, items, total, loadMore } = usePages<PipelineEvent>({
    key: keyOf('listPipelineEvents', { query: filter }),
    load,
    idOf,
    pollMs: POLL_MS,
  });
  const isNarrow = useIsNarrow();
  const columns = useMemo(
    () => columnsOf({ onType: (chosen) => set({ type: chosen }, { push: true }), isNarrow }),
    [set, isNarrow],
  );
  const onIssue = useCallback((value: string) => set({ issue: value }), [set]);
  const open = items.find((item) => idOf(item) === values.event);
  return (
    <Page
      title="Events"
      rejected={rejected}
      actions={total !== null && <span className={layout.muted}>{formatCount(total)} events</span>}
    >
      <search className={layout.filters}>
        <SelectField
          label="Type"
          hideLabel
          choices={choicesOf(type)}
          value={type}
          onChange={(next) => set({ type: next }, { push: true })}
        />
        <SearchBox label="Issue number" value={issue} onChange={onIssue} isMain isNarrow />
        {(type !== '' || issue !== '') && (
          <Button kind="quiet" glyph="close" onPress={() => set({ type: '', issue: '' }, { push: true })}>
            Clear filters
          </Button>
        )}
        {issue !== '' && !number && <span className={layout.warning}>“{issue}” is not an issue number.</span>}
      </search>
      {query.error && (
        <FailureNote what="The events could not be read" error={query.error} onRetry={() => void query.refetch()} />
      )}
      {query.data === undefined ? (
        !query.error && <Skeleton height={400} />
      ) : (
        <div className={layout.split} data-open={open ? true : undefined}>
          <DataTable
            label="Events, newest first"
            columns={columns}
            isTall={isNarrow}
            rows={items}
            keyOf={idOf}
            onPeek={(item) => set({ event: idOf(item) === values.event ? '' : idOf(item) })}
            onEnd={loadMore}
            empty={
              <EmptyNote title={type || number ? 'No event matches these filters.' : 'Nothing has happened yet.'} />
            }
          />
          {open && <EventPanel event={open} onClose={() => set({ event: '' })} />}
        </div>
      )}
    </Page>
  );
}

/** An address may name a type of a newer monitor. */
function choicesOf(type: string) {
  const known = EVENT_TYPES.some((each) => each === type) || type === '' ? EVENT_TYPES : [type, ...EVENT_TYPES];
  return [{ value: '', label: 'All types' }, ...known.map((value) => ({ value, label: typeLabel(value) }))];
}

/** An event with its whole payload. */
function EventPanel({ event, onClose }: { event: PipelineEvent; onClose: () => void }) {
  return (
    <SidePanel title={typeLabel(event.eventType)} onClose={onClose}>
      <NamedValues
        facts={[
          ['Subject', <Subject key="subject" event={event} />],
          ['Time', <When key="time" at={event.createdAt} as="second" />],
          ['Age', <When key="age" at={event.createdAt} />],
          ['Agent', event.agent],
          ['Id', event.id],
        ]}
      />
      <ScrolledText className={layout.code}>{JSON.stringify(event.payload, null, 2)}</ScrolledText>
      <p className={layout.row}>
        <CopyButton text={JSON.stringify(event)} what="event as JSON" />
        <span className={layout.muted}>Copy the event as JSON</span>
      </p>
    </SidePanel>
  );
}
