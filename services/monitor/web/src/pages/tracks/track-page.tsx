import { Button } from '@pipeline/web/components/button.tsx';
import { When } from '@pipeline/web/components/when.tsx';
import { PageLink } from '@pipeline/web/navigation/page-link.tsx';
import { EmptyNote } from '@pipeline/web/page/empty-note.tsx';
import layout from '@pipeline/web/page/layout.module.css';
import { NamedValues } from '@pipeline/web/page/named-values.tsx';
import { Page } from '@pipeline/web/page/page.tsx';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { startAction } from '../../actions/perform.ts';
import { read } from '../../api/query.ts';
import { useGo } from '../../navigation/use-go.ts';
import { Panel } from '../../page/panel.tsx';
import { cadenceInWords } from './cadence.ts';
import { EditTrackDialog, type Track } from './edit-track-dialog.tsx';
import { PromptsPanel } from './prompts-panel.tsx';
import { deletePlan } from './track-plans.ts';
import { TrackSwitch } from './track-switch.tsx';

const POLL_MS = 10_000;

/** One track: its schedule, its slate, and the versions of its prompt. */
export default function TrackPage() {
  const { owner = '', repo = '', name = '' } = useParams({ strict: false }) as Record<string, string>;
  const [isEditing, setEditing] = useState(false);
  const go = useGo();
  const target = { repo: `${owner}/${repo}`, name };
  const query = useQuery(read('listTracks', { query: { repo: target.repo } }, POLL_MS));
  const track = query.data?.tracks.find((each) => each.name === name);
  return (
    <Page
      title={`Track ${name}`}
      actions={
        <div className={layout.row}>
          <PageLink to="/steering/tracks">All tracks</PageLink>
          {track && <Button onPress={() => setEditing(true)}>Edit</Button>}
          {track && (
            <Button onPress={() => startAction(deletePlan(target, () => go('/steering/tracks')))}>Delete</Button>
          )}
        </div>
      }
    >
      <div className={layout.stack}>
        <Panel title={target.repo} query={query} height={200}>
          {() =>
            track ? (
              <TrackFacts track={track} target={target} />
            ) : (
              <EmptyNote title={`The repository has no track named “${name}”.`} />
            )
          }
        </Panel>
        {track && <PromptsPanel target={target} activeVersion={track.active_version} />}
      </div>
      {isEditing && track && <EditTrackDialog target={target} track={track} onClose={() => setEditing(false)} />}
    </Page>
  );
}

function TrackFacts({ track, target }: { track: Track; target: { repo: string; name: string } }) {
  const cadence = cadenceInWords({
    cadenceKind: track.cadence.kind,
    cooldownMinutes: track.cooldown_minutes,
    cronExpr: track.cadence.kind === 'cron' ? track.cadence.expr : null,
  });
  return (
    <div className={layout.stack}>
      <TrackSwitch track={{ ...target, enabled: track.enabled }} />
      <NamedValues
        facts={[
          ['Runs', cadence],
          [
            'Next run',
            track.overdue ? (
              <span key="next" className={layout.warning}>
                overdue
              </span>
            ) : (
              <When key="next" at={track.next_run_at} as="time" />
            ),
          ],
          ['Last run', <When key="last" at={track.last_run_at} />],
          ['Label', track.label || 'none'],
          ['Weight', track.weight === 0 ? '0: only slots that no other track wants' : track.weight],
          ['Prompt', track.active_version === 0 ? 'none: it creates no issues' : `version ${track.active_version}`],
        ]}
      />
      <h3>Slate: the issues of one run</h3>
      {track.proposal === null || track.proposal.length === 0 ? (
        <p className={layout.muted}>The default: one small issue.</p>
      ) : (
        <ul>
          {track.proposal.map(({ size, count, theme, label }) => (
            <li key={`${size} ${theme} ${label}`}>
              {count} × {size}
              {theme && `, about ${theme}`}
              {label && `, labelled ${label}`}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
