import type { ActionPlan } from '../../actions/action.ts';
import { request } from '../../api/request.ts';

/** A track as its routes name it. */
export interface TrackTarget {
  repo: string;
  name: string;
  tenant?: string;
}

/** Path and query of the routes of a track. */
export function trackInput({ repo, name, tenant }: TrackTarget) {
  const [owner = '', repoName = ''] = repo.split('/');
  return { params: { owner, repo: repoName, name }, ...(tenant !== undefined && { query: { tenant } }) };
}

const switchOf = (track: TrackTarget, isOn: boolean) => async (): Promise<string> => {
  await request(isOn ? 'enableTrack' : 'disableTrack', trackInput(track));
  return isOn ? 'enabled' : 'disabled';
};

/** Switches a track on or off at once; can be undone. */
export const switchPlan = (track: TrackTarget, isOn: boolean): ActionPlan => ({
  grade: 0,
  verb: isOn ? 'Enable' : 'Disable',
  object: `track ${track.name}`,
  effect: isOn ? 'The track creates issues by its cadence.' : 'The track creates no new issues.',
  reason: 'none',
  run: switchOf(track, isOn),
  undo: switchOf(track, !isOn),
});

export const deletePlan = (track: TrackTarget, onDone: () => void): ActionPlan => ({
  grade: 3,
  verb: 'Delete',
  object: `track ${track.name}`,
  effect:
    'The track and its prompt versions are gone for good. Its issues continue with the version they were created with.',
  count: 1,
  reason: 'optional',
  run: async ({ reason }) => {
    await request('deleteTrack', { ...trackInput(track), body: { ...(reason !== undefined && { reason }) } });
    onDone();
    return 'deleted';
  },
});

export const activatePlan = (track: TrackTarget, version: number): ActionPlan => ({
  grade: 1,
  verb: 'Activate',
  object: `version ${version} of ${track.name}`,
  effect: 'It takes effect with the next run. Existing issues keep the version they were created with.',
  reason: 'optional',
  run: async ({ reason }) => {
    const input = trackInput(track);
    await request('activateTrackPrompt', {
      ...input,
      params: { ...input.params, version: String(version) },
      body: { ...(reason !== undefined && { reason }) },
    });
    return `version ${version} is active`;
  },
});
