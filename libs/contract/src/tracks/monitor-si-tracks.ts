import { z } from 'zod';
import { Timestamp, UnpaginatedResponse } from '../wire/envelopes.ts';
import { route } from '../wire/route.ts';

/** interface: metric SI Tracks. */
const SiTrack = z
  .object({
    repo: z.string().meta({ description: 'owner/repo', example: 'acme/shop' }),
    tenant: z.string().meta({ description: 'External id of the tenant.', example: 'default' }),
    name: z.string(),
    label: z.string(),
    enabled: z.boolean(),
    cadenceKind: z.enum(['cooldown', 'cron']),
    cooldownMinutes: z
      .int()
      .positive()
      .nullable()
      .meta({ description: 'Minutes between runs. Null for a cron track.' }),
    cronExpr: z.string().nullable().meta({ description: 'Cron expression in UTC. Null for a cooldown track.' }),
    lastRunAt: Timestamp.nullable(),
    nextRunAt: Timestamp.nullable().meta({ description: 'Null while the track is disabled.' }),
    overdue: z.boolean().meta({
      description:
        'Cooldown track: the cooldown since the last run has elapsed. Cron track: a scheduled run was missed.',
    }),
    activeVersion: z.int().nonnegative(),
    weight: z.number().nonnegative(),
  })
  .meta({ id: 'SiTrack', description: 'A self-improvement track.' });

const tracks = {
  method: 'get',
  auth: 'operator',
  tags: ['Tracks'],
  summary: 'List tracks of all repos',
  description: 'Ordered by repo and name. Tracks of disabled repos are omitted.',
  replies: { 200: { description: 'All tracks.', body: UnpaginatedResponse(SiTrack) } },
} as const;

const listSiTracks = route({ ...tracks, id: 'listSiTracks', path: '/api/si-tracks' });
const pipelineSiTracks = route({ ...tracks, id: 'pipelineSiTracks', path: '/api/pipeline/si-tracks' });
const pipelineSiTracksByName = route({ ...tracks, id: 'pipelineSiTracksByName', path: '/pipeline/si-tracks' });

export const siTrackRoutes = [listSiTracks, pipelineSiTracks, pipelineSiTracksByName] as const;
