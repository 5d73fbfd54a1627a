import { oneOf } from '@pipeline/web/address/fields.ts';
import { useAddress } from '@pipeline/web/address/use-address.ts';
import { type Choice, SelectField } from '@pipeline/web/components/select-field.tsx';
import { plural } from '@pipeline/web/format/number.ts';
import { EmptyNote } from '@pipeline/web/page/empty-note.tsx';
import { Page } from '@pipeline/web/page/page.tsx';
import { DataTable } from '@pipeline/web/table/data-table.tsx';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { read } from '../../api/query.ts';
import { useRepo } from '../../navigation/use-repo.ts';
import { Panel } from '../../page/panel.tsx';
import { WRITE_COLUMNS } from './columns.tsx';
import { inLanes } from './in-lanes.ts';

const STATUSES = ['open', 'pending', 'failed', 'complete', 'discarded'] as const;
const FIELDS = { status: oneOf(STATUSES, 'open') };
const POLL_MS = 5_000;

const CHOICES: readonly Choice<(typeof STATUSES)[number]>[] = [
  { value: 'open', label: 'Waiting and failed' },
  { value: 'pending', label: 'Waiting' },
  { value: 'failed', label: 'Failed' },
  { value: 'complete', label: 'Complete' },
  { value: 'discarded', label: 'Discarded' },
];

/** Page of the host writes that the host has not received yet. */
export default function WritesPage() {
  const { repo } = useRepo();
  const { values, set, rejected } = useAddress(FIELDS);
  const { status } = values;
  const query = useQuery(read('listProjections', { query: status === 'open' ? {} : { status } }, POLL_MS));
  const rows = useMemo(
    () => inLanes(query.data?.projections ?? []).filter((write) => repo === undefined || write.repo === repo),
    [query.data, repo],
  );
  return (
    <Page
      title="Host writes"
      rejected={rejected}
      actions={
        <SelectField
          label="Status"
          hideLabel
          choices={CHOICES}
          value={status}
          onChange={(next) => set({ status: next }, { push: true })}
        />
      }
    >
      <Panel
        title={query.data ? plural(rows.length, 'write') : 'Writes'}
        metrics={['write_queue']}
        query={query}
        height={400}
      >
        {() => (
          <DataTable
            label="Host writes by issue, in the order of sending"
            columns={WRITE_COLUMNS}
            rows={rows}
            keyOf={({ id }) => String(id)}
            look={({ place }) => (place === 'follower' ? 'indented' : undefined)}
            empty={
              <EmptyNote
                tone={status === 'open' || status === 'failed' ? 'good' : 'plain'}
                title={status === 'open' ? 'The host knows everything.' : 'There are no such writes.'}
              />
            }
          />
        )}
      </Panel>
    </Page>
  );
}
