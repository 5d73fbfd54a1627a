import { CooldownMinutes, TrackChange, TrackSettings } from '@pipeline/domain';
import { z } from 'zod';
import { Ok, Reason, Timestamp, withReason } from '../wire/envelopes.ts';
import { slugText } from '../wire/parameter-texts.ts';
import { route } from '../wire/route.ts';
import { NEEDS_TENANT, onTrack, TRACK, tenantQuery } from './path.ts';

/** interface: Track. */
const Track = z
  .object({
    name: z.string(),
    label: z.string().meta({ description: 'Label added to every issue that the track creates. Empty = none.' }),
    cooldown_minutes: z.int().positive(),
    enabled: z.boolean(),
    active_version: z
      .int()
      .nonnegative()
      .meta({ description: 'Active prompt version. 0 = none; the track then creates no issues.' }),
    ...TrackSettings.pick({ proposal: true, cadence: true, weight: true }).shape,
    schedule_since: Timestamp.meta({ description: 'Start of the current cadence.' }),
    last_run_at: Timestamp.nullable(),
    next_run_at: Timestamp.nullable().meta({ description: 'Null while the track is disabled.' }),
    overdue: z.boolean().meta({ description: 'True when a run is overdue. See the metric definition of SI Tracks.' }),
  })
  .meta({ id: 'Track', description: 'A self-improvement work stream of a repo.' });

const REPO_QUERY = { code: 'INVALID_INPUT', message: 'Missing or invalid repo query parameter' } as const;

const listTracks = route({
  id: 'listTracks',
  method: 'get',
  path: '/api/tracks',
  summary: 'List tracks of a repo',
  description: 'Ordered by name. Requests without a query string do not match this route (404).',
  auth: 'operator',
  tags: ['Tracks'],
  needsQuery: true,
  query: z.object({
    repo: slugText('must be owner/repo').meta({ description: 'owner/repo', example: 'acme/shop' }),
    ...tenantQuery,
  }),
  replies: { 200: { description: 'All tracks of the repo.', body: z.object({ tracks: z.array(Track) }) } },
  errors: [{ code: 'NOT_FOUND', description: 'Unknown repo, or request without a query string' }],
  refusals: { query: REPO_QUERY },
});

const field = { code: 'INVALID_BODY' } as const;
const text = TrackSettings.shape.label;

export const putTrack = route({
  id: 'putTrack',
  method: 'post',
  path: '/api/tracks',
  summary: 'Create or update a track',
  description:
    'Omitted fields take their defaults, also for an existing track. Slate, cadence, weight and prompts of an existing ' +
    'track are unchanged. A new track creates no issues until a prompt version is activated.',
  auth: 'operator',
  tags: ['Tracks'],
  query: z.object(tenantQuery),
  body: z.object({
    repo: z.string().min(1).meta({ description: 'owner/repo', example: 'acme/shop' }),
    name: z
      .string()
      .min(1)
      .meta({ description: 'Track name, 1 to 100 characters, without a slash.', example: 'tests' }),
    label: text.optional().meta({ description: 'Default: empty.', example: 'tests' }),
    cooldown_minutes: CooldownMinutes.optional().meta({
      description: 'Minutes between runs. Default: `tracks.cooldownMinutes` of the configuration (60).',
    }),
    enabled: z.boolean().optional().meta({ description: 'Default: true.' }),
    reason: Reason.optional(),
  }),
  replies: { 200: { description: 'Created or updated.', body: Ok } },
  errors: [{ code: 'NOT_FOUND', description: 'Unknown repo' }, NEEDS_TENANT, 'INVALID_BODY'],
  refusals: {
    body: { code: 'INVALID_BODY', message: 'Missing required fields: repo, name' },
    fields: { label: field, cooldown_minutes: field, enabled: field, reason: field },
  },
});

const updateTrack = route({
  ...onTrack,
  id: 'updateTrack',
  method: 'post',
  path: TRACK,
  summary: 'Update a track',
  description:
    'Omitted fields keep their values. `proposal: null` clears the slate. A new cron schedule takes effect from the time of the update.',
  body: TrackChange.extend({ reason: Reason.optional() }),
  replies: { 200: { description: 'Updated.', body: Ok } },
  errors: ['TRACK_NOT_FOUND', NEEDS_TENANT, 'INVALID_BODY'],
});

const deleteTrack = route({
  ...onTrack,
  ...withReason,
  id: 'deleteTrack',
  method: 'delete',
  path: TRACK,
  summary: 'Delete a track',
  description:
    'Existing issues of the track continue with the prompt version they were created with. Idempotent: an unknown track also returns 200.',
  replies: { 200: { description: 'Deleted.', body: Ok } },
  errors: [NEEDS_TENANT],
});

const plain = { ...onTrack, ...withReason, method: 'post', errors: ['TRACK_NOT_FOUND', NEEDS_TENANT] } as const;

const enableTrack = route({
  ...plain,
  id: 'enableTrack',
  path: `${TRACK}/enable`,
  summary: 'Enable a track',
  description: 'A cron track runs at its next scheduled time, a cooldown track when its cooldown has elapsed.',
  replies: { 200: { description: 'Enabled.', body: Ok } },
});

const disableTrack = route({
  ...plain,
  id: 'disableTrack',
  path: `${TRACK}/disable`,
  summary: 'Disable a track',
  description: 'The track creates no new issues. Existing issues continue.',
  replies: { 200: { description: 'Disabled.', body: Ok } },
});

const setTrackCooldown = route({
  ...onTrack,
  id: 'setTrackCooldown',
  method: 'post',
  path: `${TRACK}/cooldown`,
  summary: 'Set the cooldown of a track',
  description: 'Sets the minutes between runs. A cron track keeps its schedule.',
  body: z.object({ cooldown_minutes: CooldownMinutes, reason: Reason.optional() }),
  replies: { 200: { description: 'Updated.', body: Ok } },
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
