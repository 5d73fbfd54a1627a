import { z } from 'zod';
import { keptText, Ok, Reason, Timestamp, withReason } from '../wire/envelopes.ts';
import { route } from '../wire/route.ts';
import { NEEDS_TENANT, onTrack, TRACK } from './path.ts';

/** Bytes. */
const PROMPT_LIMIT = 1024 * 1024;

const version = z.int().positive();

/** interface: Track prompt version. */
export const TrackPrompt = z
  .object({ version, seed_title: z.string(), seed_body: z.string(), instructions: z.string() })
  .meta({ id: 'TrackPrompt', description: 'What a track writes into its issues and tells the agents of them.' });

const onVersion = {
  ...onTrack,
  params: onTrack.params.extend({
    version: z.string().meta({ description: 'Number of the version.', example: '2' }),
  }),
} as const;
const VERSION_NOT_FOUND = { code: 'NOT_FOUND', description: 'The track has no such version.' } as const;

export const listTrackPrompts = route({
  ...onTrack,
  id: 'listTrackPrompts',
  method: 'get',
  path: `${TRACK}/prompts`,
  summary: 'List the prompt versions of a track',
  description: 'Newest first.',
  replies: {
    200: {
      description: 'All of them.',
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
  summary: 'Add a prompt version to a track',
  description: 'It is used once it is activated. Versions are never changed.',
  bodyLimit: PROMPT_LIMIT,
  body: z.object({
    seed_title: keptText(200)
      .default('')
      .meta({ description: 'Title of the issues; without it the name of the track.' }),
    seed_body: keptText(60_000).default('').meta({ description: 'Text of the issues.' }),
    instructions: keptText(PROMPT_LIMIT).default('').meta({ description: 'What agents are told with every task.' }),
    notes: keptText(10_000).default('').meta({ description: 'For whoever reads the list of versions.' }),
    reason: Reason.optional(),
  }),
  replies: { 200: { description: 'Added.', body: z.object({ version }) } },
  errors: ['TRACK_NOT_FOUND', NEEDS_TENANT],
});

export const readTrackPrompt = route({
  ...onVersion,
  id: 'readTrackPrompt',
  method: 'get',
  path: `${TRACK}/prompts/{version}`,
  summary: 'Read a prompt version',
  description: 'An unknown track has no version either.',
  replies: { 200: { description: 'The version.', body: z.object({ prompt: TrackPrompt }) } },
  errors: [VERSION_NOT_FOUND, NEEDS_TENANT],
});

export const activateTrackPrompt = route({
  ...onVersion,
  ...withReason,
  id: 'activateTrackPrompt',
  method: 'post',
  path: `${TRACK}/prompts/{version}/activate`,
  summary: 'Have a track use a prompt version',
  description: 'From its next run on; issues that it made before keep theirs.',
  replies: { 200: { description: 'Active.', body: Ok } },
  errors: ['TRACK_NOT_FOUND', VERSION_NOT_FOUND, NEEDS_TENANT],
});

export const trackPromptRoutes = [listTrackPrompts, createTrackPrompt, readTrackPrompt, activateTrackPrompt] as const;
