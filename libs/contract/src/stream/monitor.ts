import { STATES, TASK_TYPES } from '@pipeline/domain';
import { z } from 'zod';
import { Timestamp } from '../wire/envelopes.ts';
import { slugText } from '../wire/parameter-texts.ts';
import { route } from '../wire/route.ts';

const issueNumber = z.int().positive();
const repo = z.string().meta({ description: 'owner/repo' });
const state = z.enum(STATES);

/** Payload of each event type (interface: Real-time stream). */
export const STREAM_EVENTS = {
  'state-transition': z.object({
    issueNumber,
    repo,
    from: state,
    to: state,
    agent: z.string(),
    timestamp: Timestamp,
  }),
  'cost-update': z.object({
    issueNumber: z.int().nonnegative().meta({ description: 'Issue number. 0 for repo-level work.' }),
    repo,
    costUsd: z.number().nonnegative().meta({ description: 'Total cost of the issue to date in USD.' }),
    agent: z.string(),
    timestamp: Timestamp,
  }),
  'worker-status': z.object({
    workerId: z.string(),
    repo: repo.nullable().meta({
      description:
        'Repo of the claimed task, otherwise the repo that the worker serves. null only while the worker has no task and serves several repos, or all repos of its tenant.',
    }),
    status: z.enum(['idle', 'busy', 'draining', 'offline']),
    issueNumber: issueNumber.nullable(),
    taskType: z.enum(TASK_TYPES).nullable(),
  }),
  alert: z.object({
    severity: z.enum(['info', 'warning', 'critical']),
    message: z.string(),
    detector: z.string(),
    resolved: z.boolean(),
  }),
  'issue-status': z.object({
    issueNumber,
    repo,
    status: z.string(),
    actorType: z.enum(['agent', 'workflow-engine', 'operator', 'system']),
    state,
    timestamp: Timestamp,
  }),
  heartbeat: z.object({ timestamp: Timestamp, uptime: z.number().nonnegative().meta({ description: 'Seconds.' }) }),
} as const;

export type StreamEventType = keyof typeof STREAM_EVENTS;
const TYPES = Object.keys(STREAM_EVENTS) as StreamEventType[];

const fields = TYPES.map((type) => `- \`${type}\`: ${Object.keys(STREAM_EVENTS[type].shape).join(', ')}`).join('\n');

/** Every type of STREAM_EVENTS. Written out so that a test can prove the pattern linear. */
const TYPE = '\\s*(?:state-transition|cost-update|worker-status|alert|issue-status|heartbeat)\\s*';
const TYPE_LIST = new RegExp(`^${TYPE}(?:,${TYPE}){0,12}$`);

export const streamEvents = route({
  auth: 'operator',
  tags: ['Event stream'],
  id: 'streamEvents',
  method: 'get',
  path: '/api/events',
  // Without the store, open streams stay open and new ones start with the buffered events.
  needsStore: false,
  summary: 'Stream events',
  description: [
    'Server-sent events. Each event has a numeric `id`. Ids increase strictly, across replicas and restarts, except that',
    'a heartbeat sent while the store is unavailable repeats the latest id. A heartbeat is sent every 30 seconds. A client',
    'that reconnects with `Last-Event-ID` receives the missed events from a buffer of the latest 100; if events are',
    'missing, the comment `: gap` comes first. A client that reads too slowly is disconnected and may reconnect.',
    'Event types and their payload fields:',
    `\n\n${fields}\n\n`,
    '`repo` of `worker-status` is null only while the worker has no task and serves several repos. `issue-status` is a status',
    'message of an agent, or an action of an operator that left the issue in its state: see `actorType`.',
  ].join(' '),
  query: z.object({
    repo: slugText('must be owner/name')
      .optional()
      .meta({ description: 'Streams only events of this repo, `owner/repo`, and heartbeats.', example: 'acme/shop' }),
    tenant: z.string().max(200).optional().meta({
      description: 'External id of the tenant. Required only when several tenants have a repo with this name.',
      example: 'default',
    }),
    types: z
      .string()
      .regex(TYPE_LIST, `must be a comma-separated list of ${TYPES.join(', ')}`)
      .transform((list) => list.split(',').map((type) => type.trim()))
      .optional()
      .meta({
        description: 'Comma-separated list of event types to stream, in addition to heartbeats. Default: all types.',
        example: 'alert,state-transition',
      }),
  }),
  headers: z.object({
    'last-event-id': z.string().optional().meta({
      description:
        'Id of the last event received. Buffered events with a greater id are replayed first. An id that was never issued replays none, after the comment `: gap`. A value that is not a number is ignored.',
      example: '4711',
    }),
  }),
  replies: {
    200: {
      description: 'The event stream.',
      streamed: true,
      type: 'text/event-stream',
      content: {
        'text/event-stream': z.string().meta({
          description: 'Messages with the lines `id: <number>`, `event: <type>`, `data: <JSON>`.',
        }),
      },
    },
  },
  errors: ['SSE_UNAVAILABLE', { code: 'NOT_FOUND', description: 'Unknown repo' }],
});

export const eventRoutes = [streamEvents] as const;
