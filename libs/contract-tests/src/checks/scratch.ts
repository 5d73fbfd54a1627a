import type { Surface } from '@pipeline/contract';
import type { Check } from './check.ts';
import { must, mustEqual } from './outcome.ts';
import { base, pausableIssue, postJson, type Track, trackOf, withTrack } from './scratch-actions.ts';

/** Checks of what operators change, in the scratch repo alone; everything is as before afterwards. */
export const scratchChecks = ({ routes }: Surface): Check[] =>
  routes.some(({ id }) => id === 'putTrack') ? [tracks, prompts, pauses] : [];

const tracks: Check = {
  suite: 'scratch',
  endpoint: 'putTrack',
  name: 'creates a track with its defaults, updates only what is given, and deletes it',
  run: (probe) =>
    withTrack(probe, async () => {
      const { label, cooldown_minutes, enabled, active_version } = (await trackOf(probe)) ?? ({} as Partial<Track>);
      mustEqual('the created track', [label, cooldown_minutes, enabled, active_version], ['', 60, true, 0]);
      mustEqual('update', (await postJson(probe, base(probe), { label: 'x', weight: 2 })).json(), { ok: true });
      mustEqual('disable', (await postJson(probe, `${base(probe)}/disable`)).json(), { ok: true });
      mustEqual('cooldown', (await postJson(probe, `${base(probe)}/cooldown`, { cooldown_minutes: 7 })).json(), {
        ok: true,
      });
      const after = await trackOf(probe);
      mustEqual('the updated track', [after?.label, after?.cooldown_minutes, after?.enabled], ['x', 7, false]);
    }),
};

const prompts: Check = {
  suite: 'scratch',
  endpoint: 'createTrackPrompt',
  name: 'numbers the prompts of a track and activates one',
  run: (probe) =>
    withTrack(probe, async () => {
      for (const version of [1, 2])
        mustEqual('version', (await postJson(probe, `${base(probe)}/prompts`, { seed_title: `v${version}` })).json(), {
          version,
        });
      mustEqual('activation', (await postJson(probe, `${base(probe)}/prompts/2/activate`)).json(), { ok: true });
      mustEqual('active_version', (await trackOf(probe))?.active_version, 2);
      const { prompt } = (await probe.send(`${base(probe)}/prompts/1`)).json<{ prompt: object }>();
      mustEqual('prompt 1', prompt, { version: 1, seed_title: 'v1', seed_body: '', instructions: '' });
    }),
};

const pauses: Check = {
  suite: 'scratch',
  endpoint: 'pauseIssue',
  name: 'pauses an issue and resumes it in the same state',
  async run(probe) {
    const address = await pausableIssue(probe);
    const state = async () => (await probe.send(`${address}/status`)).json<{ state: string }>().state;
    const before = await state();
    mustEqual('pause', (await postJson(probe, `${address}/pause`)).json(), { ok: true });
    const paused = (await probe.send(`${address}/digest`)).json<{ issue: { isPaused: boolean } | null }>();
    const resumed = (await postJson(probe, `${address}/resume`)).json<{ ok: boolean; state: string }>();
    must(paused.issue?.isPaused === true, 'the paused issue is not shown as paused');
    mustEqual('resume', resumed, { ok: true, state: before });
  },
};
