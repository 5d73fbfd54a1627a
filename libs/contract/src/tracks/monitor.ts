import { CooldownMinutes, TrackChange, TrackSettings } from '@pipeline/domain';
import { z } from 'zod';
import { Ok, Reason, Timestamp, withReason } from '../wire/envelopes.ts';
import { slugText } from '../wire/parameter-texts.ts';
import { route } from '../wire/route.ts';
import { NEEDS_TENANT, onTrack, TRACK, tenantQuery } from './path.ts';

/** interface: Track. */
export const Track = z
  .object({
    name: z.string(),
    label: z.string().meta({ description: 'Put on every issue that the track makes; empty = none.' }),
    cooldown_minutes: z.int().positive(),
    enabled: z.boolean(),
    active_version: z.int().nonnegative().meta({ description: 'Of its prompts. 0 = none yet: it makes nothing.' }),
    ...TrackSettings.pick({ proposal: true, cadence: true, weight: true }).shape,
    schedule_since: Timestamp.meta({ description: 'Since when its cadence counts.' }),
    last_run_at: Timestamp.nullable(),
    next_run_at: Timestamp.nullable().meta({ description: 'null while it is off.' }),
    overdue: z.boolean().meta({ description: 'Its time has passed and it has not run; see SI Tracks.' }),
  })
  .meta({ id: 'Track', description: 'A stream of self-improvement work in a repo.' });

const REPO_QUERY = { code: 'INVALID_INPUT', message: 'Missing or invalid repo query parameter' } as const;

export const listTracks = route({
  id: 'listTracks',
  method: 'get',
  path: '/api/tracks',
  summary: 'List the tracks of a repo',
  description: 'By name. Without any query there is no such route.',
  auth: 'operator',
  tags: ['Tracks'],
  needsQuery: true,
  query: z.object({
    repo: slugText('must be owner/repo').meta({ description: 'owner/repo', example: 'acme/shop' }),
    ...tenantQuery,
  }),
  replies: { 200: { description: 'All of them.', body: z.object({ tracks: z.array(Track) }) } },
  errors: [{ code: 'NOT_FOUND', description: 'Unknown repo, or no query.' }],
  refusals: { query: REPO_QUERY },
});

const field = { code: 'INVALID_BODY' } as const;
const text = TrackSettings.shape.label;

export const putTrack = route({
  id: 'putTrack',
  method: 'post',
  path: '/api/tracks',
  summary: 'Create a track or give it these settings',
  description:
    'What is left out takes its default, also where the track is there already; its slate, cadence, weight and prompts ' +
    'stay. It makes nothing until a prompt version is activated.',
  auth: 'operator',
  tags: ['Tracks'],
  query: z.object(tenantQuery),
  body: z.object({
    repo: z.string().min(1).meta({ description: 'owner/repo', example: 'acme/shop' }),
    name: z.string().min(1).meta({ description: '1 to 100 characters, without slash.', example: 'tests' }),
    label: text.optional().meta({ description: 'Without it empty.', example: 'tests' }),
    cooldown_minutes: CooldownMinutes.optional().meta({ description: 'Without it that of the configuration: 60.' }),
    enabled: z.boolean().optional().meta({ description: 'Without it true.' }),
    reason: Reason.optional(),
  }),
  replies: { 200: { description: 'Created or updated.', body: Ok } },
  errors: [{ code: 'NOT_FOUND', description: 'Unknown repo.' }, NEEDS_TENANT, 'INVALID_BODY'],
  refusals: {
    body: { code: 'INVALID_BODY', message: 'Missing required fields: repo, name' },
    fields: { label: field, cooldown_minutes: field, enabled: field, reason: field },
  },
});

export const updateTrack = route({
  ...onTrack,
  id: 'updateTrack',
  method: 'post',
  path: TRACK,
  summary: 'Change settings of a track',
  description: 'What is left out stays. `proposal: null` clears the slate. A schedule counts from when it is set.',
  body: TrackChange.extend({ reason: Reason.optional() }),
  replies: { 200: { description: 'Changed.', body: Ok } },
  errors: ['TRACK_NOT_FOUND', NEEDS_TENANT, 'INVALID_BODY'],
});

export const deleteTrack = route({
  ...onTrack,
  ...withReason,
  id: 'deleteTrack',
  method: 'delete',
  path: TRACK,
  summary: 'Delete a track',
  description: 'Issues that it made go on, by the prompt they were made with. An unknown track is answered alike.',
  replies: { 200: { description: 'It is not there.', body: Ok } },
  errors: [NEEDS_TENANT],
});

const plain = { ...onTrack, ...withReason, method: 'post', errors: ['TRACK_NOT_FOUND', NEEDS_TENANT] } as const;

export const enableTrack = route({
  ...plain,
  id: 'enableTrack',
  path: `${TRACK}/enable`,
  summary: 'Switch a track on',
  description: 'A scheduled one waits for its next time, one with a cooldown runs once that has elapsed.',
  replies: { 200: { description: 'It is on.', body: Ok } },
});

export const disableTrack = route({
  ...plain,
  id: 'disableTrack',
  path: `${TRACK}/disable`,
  summary: 'Switch a track off',
  description: 'It makes nothing new; issues that it made go on.',
  replies: { 200: { description: 'It is off.', body: Ok } },
});

export const setTrackCooldown = route({
  ...onTrack,
  id: 'setTrackCooldown',
  method: 'post',
  path: `${TRACK}/cooldown`,
  summary: 'Set the cooldown of a track',
  description: 'A track on a schedule keeps its schedule.',
  body: z.object({ cooldown_minutes: CooldownMinutes, reason: Reason.optional() }),
  replies: { 200: { description: 'Set.', body: Ok } },
  errors: ['TRACK_NOT_FOUND', NEEDS_TENANT],
});

export const trackRoutes = [
  listTracks,
  putTrack,
  updateTrack,
  deleteTrack,
  enableTrack,
  disableTrack,
  setTrackCooldown,
] as const;
