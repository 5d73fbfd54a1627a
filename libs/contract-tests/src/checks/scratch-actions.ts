import { CheckSkipped, mustEqual } from './outcome.ts';
import type { Answer, Probe } from './probe.ts';

/** The track that the checks create and delete. */
const TRACK = 'pipeline-contract';

/** Sends an operator's action. */
export const postJson = (probe: Probe, address: string, body?: object): Promise<Answer> =>
  probe.send(address, { method: 'POST', ...(body && { body: JSON.stringify(body) }) });

/** Address of the track. */
export const base = (probe: Probe): string => `/api/tracks/${probe.sample('scratch')}/${TRACK}`;

export interface Track {
  name: string;
  label: string;
  cooldown_minutes: number;
  enabled: boolean;
  active_version: number;
}

/** @returns undefined when the scratch repo has no such track. */
export async function trackOf(probe: Probe): Promise<Track | undefined> {
  const repo = encodeURIComponent(probe.sample('scratch'));
  const { tracks: all } = (await probe.send(`/api/tracks?repo=${repo}`)).json<{ tracks: Track[] }>();
  return all.find(({ name }) => name === TRACK);
}

/** Creates a track for an act, and deletes it. @param act gets the address of the track. */
export async function withTrack(probe: Probe, act: (track: string) => Promise<void>): Promise<void> {
  mustEqual(
    'status of the creation',
    (await postJson(probe, '/api/tracks', { repo: probe.sample('scratch'), name: TRACK })).status,
    200,
  );
  try {
    await act(base(probe));
  } finally {
    await probe.send(base(probe), { method: 'DELETE' });
  }
  mustEqual('the deleted track', await trackOf(probe), undefined);
}

interface Listed {
  issueNumber: number;
  isPaused: boolean;
}

/** @returns the address of an issue of the scratch repo. @throws CheckSkipped when every issue is paused. */
export async function pausableIssue(probe: Probe): Promise<string> {
  const repo = probe.sample('scratch');
  const list = `/api/issues?repo=${encodeURIComponent(repo)}&limit=100`;
  const answer = await probe.send(list);
  mustEqual('status of the list of issues', answer.status, 200);
  const issue = answer.json<{ items: Listed[] }>().items.find(({ isPaused }) => !isPaused);
  if (!issue) throw new CheckSkipped('the scratch repo has no open issue that is not paused');
  return `/api/issues/${repo}/${issue.issueNumber}`;
}
