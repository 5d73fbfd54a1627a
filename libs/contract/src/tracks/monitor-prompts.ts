import { z } from 'zod';
import { keptText, Ok, Reason, Timestamp, withReason } from '../wire/envelopes.ts';
import { route } from '../wire/route.ts';
import { NEEDS_TENANT, onTrack, TRACK } from './path.ts';

/** Maximum size of a prompt in bytes. */
const PROMPT_LIMIT = 1024 * 1024;

const version = z.int().positive();

/** interface: Track prompt version. */
const TrackPrompt = z
  .object({ version, seed_title: z.string(), seed_body: z.string(), instructions: z.string() })
  .meta({ id: 'TrackPrompt', description: 'Issue text and agent instructions of a track.' });

const onVersion = {
  ...onTrack,
  params: onTrack.params.extend({
    version: z.string().meta({ description: 'Prompt version.', example: '2' }),
  }),
} as const;
const VERSION_NOT_FOUND = { code: 'NOT_FOUND', description: 'The track has no such version' } as const;

const listTrackPrompts = route({
  ...onTrack,
  id: 'listTrackPrompts',
  method: 'get',
  path: `${TRACK}/prompts`,
  summary: 'List prompt versions',
  description: 'Newest first.',
  replies: {
    200: {
      description: 'All versions.',
      body: z.object({ versions: z.array(z.object({ version, created_at: Timestamp, notes: z.string() })) }),
    },
  },
  errors: ['TRACK_NOT_FOUND', NEEDS_TENANT],
});

export const createTrackPrompt = route({
  ...onTrack,
  id: 'createTrackPrompt',
  method: 'post',
  path: `${TRACK}/prompts`,
  summary: 'Create a prompt version',
  description: 'Adds an immutable version. It takes effect when it is activated. Limit 1 MiB.',
  bodyLimit: PROMPT_LIMIT,
  body: z.object({
    seed_title: keptText(200).default('').meta({ description: 'Title of created issues. Default: the track name.' }),
    seed_body: keptText(60_000).default('').meta({ description: 'Body of created issues.' }),
    instructions: keptText(PROMPT_LIMIT).default('').meta({ description: 'Instructions added to every agent task.' }),
    notes: keptText(10_000).default('').meta({ description: 'Notes shown in the list of versions.' }),
    reason: Reason.optional(),
  }),
  replies: { 200: { description: 'Created.', body: z.object({ version }) } },
  errors: ['TRACK_NOT_FOUND', NEEDS_TENANT],
});

const readTrackPrompt = route({
  ...onVersion,
  id: 'readTrackPrompt',
  method: 'get',
  path: `${TRACK}/prompts/{version}`,
  summary: 'Get a prompt version',
  description: 'Returns 404 for an unknown version and for an unknown track.',
  replies: { 200: { description: 'The version.', body: z.object({ prompt: TrackPrompt }) } },
  errors: [VERSION_NOT_FOUND, NEEDS_TENANT],
});

const activateTrackPrompt = route({
  ...onVersion,
  ...withReason,
  id: 'activateTrackPrompt',
  method: 'post',
  path: `${TRACK}/prompts/{version}/activate`,
  summary: 'Activate a prompt version',
  description: 'Takes effect with the next run. Existing issues keep the version they were created with.',
  replies: { 200: { description: 'Activated.', body: Ok } },
  errors: ['TRACK_NOT_FOUND', VERSION_NOT_FOUND, NEEDS_TENANT],
});

export const trackPromptRoutes = [listTrackPrompts, createTrackPrompt, readTrackPrompt, activateTrackPrompt] as const;
