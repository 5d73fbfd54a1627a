import { z } from 'zod';
import { Timestamp, UnpaginatedResponse } from '../wire/envelopes.ts';
import { route } from '../wire/route.ts';

/** interface: metric SI Tracks. */
export const SiTrack = z
  .object({
    repo: z.string().meta({ description: 'owner/repo', example: 'acme/shop' }),
    tenant: z.string().meta({ description: 'External id of the owner.', example: 'default' }),
    name: z.string(),
    label: z.string(),
    enabled: z.boolean(),
    cadenceKind: z.enum(['cooldown', 'cron']),
    cooldownMinutes: z.int().positive().nullable().meta({ description: 'null for a track on a schedule.' }),
    cronExpr: z.string().nullable().meta({ description: 'In UTC; null for a track with a cooldown.' }),
    lastRunAt: Timestamp.nullable(),
    nextRunAt: Timestamp.nullable().meta({ description: 'null while it is off.' }),
    overdue: z.boolean().meta({
      description: 'By its cooldown: more than that has passed since its last run. On a schedule: a time has passed.',
    }),
    activeVersion: z.int().nonnegative(),
    weight: z.number().nonnegative(),
  })
  .meta({ id: 'SiTrack', description: 'A self-improvement track of any repo.' });

const tracks = {
  method: 'get',
  auth: 'operator',
  tags: ['Tracks'],
  summary: 'List the tracks of all repos',
  description: 'By repo and name; those of disabled repos are left out.',
  replies: { 200: { description: 'All of them.', body: UnpaginatedResponse(SiTrack) } },
} as const;

const listSiTracks = route({ ...tracks, id: 'listSiTracks', path: '/api/si-tracks' });
const pipelineSiTracks = route({ ...tracks, id: 'pipelineSiTracks', path: '/api/pipeline/si-tracks' });
const pipelineSiTracksByName = route({ ...tracks, id: 'pipelineSiTracksByName', path: '/pipeline/si-tracks' });

export const siTrackRoutes = [listSiTracks, pipelineSiTracks, pipelineSiTracksByName] as const;
