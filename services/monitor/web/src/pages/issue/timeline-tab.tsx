import { onOff } from '@pipeline/web/address/fields.ts';
import { useAddress } from '@pipeline/web/address/use-address.ts';
import { FiguresTable } from '@pipeline/web/charts/figures-table.tsx';
import { Button } from '@pipeline/web/components/button.tsx';
import { formatDuration } from '@pipeline/web/format/duration.ts';
import { formatShort } from '@pipeline/web/format/time.ts';
import { preferences } from '@pipeline/web/preferences/preferences.ts';
import { useSignal } from '@pipeline/web/shared/use-signal.ts';
import { labelOf } from '@pipeline/web/states/states.ts';
import { useNow } from '@pipeline/web/timing/use-now.ts';
import { useQuery } from '@tanstack/react-query';
import { read } from '../../api/query.ts';
import type { IssueInput, Timeline } from '../../api/types.ts';
import { Panel } from '../../page/panel.tsx';
import { Lanes } from './lanes.tsx';
import { TimelineEntries } from './timeline-entries.tsx';
import { idleShare, spanOf, staysOf } from './timeline-scale.ts';
import { middleOf, spanField } from './zoom.ts';

const FIELDS = { collapse: onOff(), zoom: spanField };

/** The issue's history: lanes drawn to scale, and every entry below. */
export function TimelineTab({ input }: { input: IssueInput }) {
  const { values, set } = useAddress(FIELDS);
  const { zone } = useSignal(preferences);
  const query = useQuery(read('readTimeline', input));
  const timeline = useRunning(query.data);
  const idle = timeline ? idleShare(timeline) : 0;
  return (
    <Panel
      title="Timeline"
      query={query}
      height={360}
      actions={
        timeline && (
          <>
            {idle > 0.5 && (
              <Button kind="quiet" aria-pressed={values.collapse} onPress={() => set({ collapse: !values.collapse })}>
                {values.collapse ? 'Show idle time' : `${Math.round(idle * 100)} % idle, collapse`}
              </Button>
            )}
            <Button
              kind="quiet"
              onPress={() => set({ zoom: middleOf(values.zoom ?? spanOf(timeline)) }, { push: true })}
            >
              Zoom in
            </Button>
            {values.zoom && (
              <Button kind="quiet" onPress={() => set({ zoom: null }, { push: true })}>
                Show all
              </Button>
            )}
          </>
        )
      }
      table={() =>
        timeline && (
          <FiguresTable
            caption="Time in each state"
            head={['State', 'From', 'Stayed']}
            rows={staysOf(timeline).map(({ state, from, to }) => [
              labelOf(state),
              formatShort(from, zone),
              formatDuration(to - from),
            ])}
          />
        )
      }
    >
      {() =>
        timeline && (
          <>
            <Lanes
              timeline={timeline}
              isCollapsed={values.collapse}
              part={values.zoom}
              onPart={(zoom) => set({ zoom }, { push: true })}
            />
            <TimelineEntries timeline={timeline} />
          </>
        )
      }
    </Panel>
  );
}

/** The timeline until now: the bars of the current state and of running agents grow once a second. */
function useRunning(timeline: Timeline | undefined): Timeline | undefined {
  const now = useNow();
  if (timeline === undefined) return undefined;
  const read = Date.parse(timeline.serverTimestamp);
  return { ...timeline, serverTimestamp: new Date(Math.max(now, read)).toISOString() };
}
