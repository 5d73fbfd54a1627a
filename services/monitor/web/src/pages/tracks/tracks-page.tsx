import { onOff, text } from '@pipeline/web/address/fields.ts';
import { useAddress } from '@pipeline/web/address/use-address.ts';
import { Button } from '@pipeline/web/components/button.tsx';
import { When } from '@pipeline/web/components/when.tsx';
import { PageLink } from '@pipeline/web/navigation/page-link.tsx';
import { EmptyNote } from '@pipeline/web/page/empty-note.tsx';
import layout from '@pipeline/web/page/layout.module.css';
import { Page } from '@pipeline/web/page/page.tsx';
import type { Column } from '@pipeline/web/table/column.ts';
import { DataTable } from '@pipeline/web/table/data-table.tsx';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { read } from '../../api/query.ts';
import type { Reply } from '../../api/types.ts';
import { useGo } from '../../navigation/use-go.ts';
import { useRepo } from '../../navigation/use-repo.ts';
import { Panel } from '../../page/panel.tsx';
import { AddTrackDialog } from './add-track-dialog.tsx';
import { cadenceInWords } from './cadence.ts';
import { TrackSwitch } from './track-switch.tsx';

type SiTrack = Reply<'listSiTracks'>['items'][number];

const FIELDS = { overdue: onOff(), sort: text(30) };
const POLL_MS = 10_000;

export const trackPath = (repo: string, name: string): string => `/steering/tracks/${repo}/${encodeURIComponent(name)}`;
const keyOfTrack = ({ tenant, repo, name }: SiTrack): string => `${tenant}/${repo}/${name}`;

const columns: readonly Column<SiTrack>[] = [
  {
    id: 'name',
    header: 'Track',
    width: 'minmax(100px, 1fr)',
    sort: ({ name }) => name,
    cell: ({ repo, name }) => (
      <PageLink to={trackPath(repo, name)} tabIndex={-1}>
        {name}
      </PageLink>
    ),
  },
  {
    id: 'repo',
    header: 'Repository',
    width: 'minmax(110px, 1fr)',
    sort: ({ repo }) => repo,
    cell: ({ repo }) => <span>{repo}</span>,
    from: 640,
  },
  {
    id: 'enabled',
    header: 'Enabled',
    width: '112px',
    sort: ({ enabled }) => Number(enabled),
    cell: (track) => <TrackSwitch track={track} />,
  },
  {
    id: 'cadence',
    header: 'Runs',
    width: 'minmax(120px, 1.4fr)',
    cell: (track) => <span>{cadenceInWords(track)}</span>,
    from: 560,
  },
  {
    id: 'next',
    header: 'Next run',
    width: '110px',
    sort: ({ nextRunAt }) => nextRunAt,
    cell: ({ nextRunAt, overdue }) =>
      overdue ? <span className={layout.warning}>overdue</span> : <When at={nextRunAt} as="time" />,
    from: 420,
  },
  {
    id: 'last',
    header: 'Last run',
    width: '90px',
    sort: ({ lastRunAt }) => lastRunAt,
    cell: ({ lastRunAt }) => <When at={lastRunAt} />,
    from: 800,
  },
  {
    id: 'weight',
    header: 'Weight',
    width: '64px',
    align: 'end',
    sort: ({ weight }) => weight,
    cell: ({ weight }) => <span>{weight}</span>,
    from: 700,
  },
  {
    id: 'version',
    header: 'Prompt',
    width: '72px',
    align: 'end',
    sort: ({ activeVersion }) => activeVersion,
    cell: ({ activeVersion }) =>
      activeVersion === 0 ? <span className={layout.warning}>none</span> : <span>v{activeVersion}</span>,
    from: 700,
  },
];

/** Page of the self-improvement tracks and their next runs. */
export default function TracksPage() {
  const { repo } = useRepo();
  const { values, set, rejected } = useAddress(FIELDS);
  const [isAdding, setAdding] = useState(false);
  const go = useGo();
  const query = useQuery(read('listSiTracks', {}, POLL_MS));
  const tracks = useMemo(
    () =>
      (query.data?.items ?? []).filter(
        (track) => (repo === undefined || track.repo === repo) && (!values.overdue || track.overdue),
      ),
    [query.data, repo, values.overdue],
  );
  return (
    <Page
      title="Tracks"
      rejected={rejected}
      actions={
        <div className={layout.row}>
          <Button
            kind={values.overdue ? 'primary' : 'plain'}
            aria-pressed={values.overdue}
            onPress={() => set({ overdue: !values.overdue })}
          >
            Overdue only
          </Button>
          <Button onPress={() => setAdding(true)}>Add a track</Button>
        </div>
      }
    >
      <Panel title="Self-improvement tracks" metrics={['si_tracks']} query={query} height={200}>
        {() => (
          <DataTable
            label="Tracks"
            columns={columns}
            rows={tracks}
            keyOf={keyOfTrack}
            order={values.sort}
            onOrder={(sort) => set({ sort })}
            onOpen={(track) => go(trackPath(track.repo, track.name))}
            look={({ enabled }) => (enabled ? undefined : 'muted')}
            empty={
              <EmptyNote title={values.overdue ? 'No track is overdue.' : 'There is no track.'}>
                <p>A track creates improvement issues in a repository by its cadence.</p>
              </EmptyNote>
            }
          />
        )}
      </Panel>
      {isAdding && <AddTrackDialog repo={repo} onClose={() => setAdding(false)} />}
    </Page>
  );
}
