import { STATES, TASK_TYPES } from '@pipeline/domain';
import { z } from 'zod';
import { Timestamp } from '../envelopes.ts';
import { slugText } from '../parameter-texts.ts';
import { route } from '../route.ts';

const issueNumber = z.int().positive();
const repo = z.string().meta({ description: 'owner/repo' });
const state = z.enum(STATES);

/** The data of each type of event (interface: Real-time stream). */
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
    issueNumber: z.int().nonnegative().meta({ description: '0 = work on the repo as a whole.' }),
    repo,
    costUsd: z.number().nonnegative().meta({ description: 'All that the issue has cost so far.' }),
    agent: z.string(),
    timestamp: Timestamp,
  }),
  'worker-status': z.object({
    workerId: z.string(),
    repo: repo.nullable().meta({
      description:
        'That of the task in hand; else the one that the worker serves. null only while it has no task and serves several, or all of its tenant.',
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

/** Every type of STREAM_EVENTS; written out so that the pattern can be proven linear. */
const TYPE = '\\s*(?:state-transition|cost-update|worker-status|alert|issue-status|heartbeat)\\s*';
const TYPE_LIST = new RegExp(`^${TYPE}(?:,${TYPE}){0,12}$`);

export const streamEvents = route({
  auth: 'operator',
  tags: ['Event stream'],
  id: 'streamEvents',
  method: 'get',
  path: '/api/events',
  // While the store is away, an open stream stays open and a new one begins with what is in memory.
  needsStore: false,
  summary: 'Follow what happens',
  description: [
    'Server-sent events. Each has a numeric `id`; ids strictly increase, on every replica and across restarts, but for',
    'a heartbeat while the store is away, which repeats the newest one. A client that comes back with `Last-Event-ID`',
    'gets what it missed out of the newest 100 events; when that is not all, the comment `: gap` comes first.',
    'A client that does not keep up is cut and may resume. Types and the fields of their data:',
    `\n\n${fields}\n\n`,
    '`repo` of `worker-status` is null only while the worker has no task and serves several repos.',
  ].join(' '),
  query: z.object({
    repo: slugText('must be owner/name')
      .optional()
      .meta({ description: 'owner/repo: only what is about this repo, and heartbeats.', example: 'acme/shop' }),
    tenant: z.string().max(200).optional().meta({
      description: 'External id of the tenant; needed only where several have a repo of that name.',
      example: 'default',
    }),
    types: z
      .string()
      .regex(TYPE_LIST, `must be some of ${TYPES.join(', ')}, separated by commas`)
      .transform((list) => list.split(',').map((type) => type.trim()))
      .optional()
      .meta({
        description: 'Only these types, separated by commas, and heartbeats.',
        example: 'alert,state-transition',
      }),
  }),
  headers: z.object({
    'last-event-id': z.string().optional().meta({
      description: 'Id of the last event that the client has: newer ones come first. Anything but a number is ignored.',
      example: '4711',
    }),
  }),
  replies: {
    200: {
      description: 'The stream.',
      streamed: true,
      type: 'text/event-stream',
      content: {
        'text/event-stream': z.string().meta({
          description: 'Messages of the lines `id: <number>`, `event: <type>`, `data: <JSON>`.',
        }),
      },
    },
  },
  errors: ['SSE_UNAVAILABLE', { code: 'NOT_FOUND', description: 'Unknown repo.' }],
});

export const eventRoutes = [streamEvents] as const;
