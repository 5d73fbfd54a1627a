import { z } from 'zod';
import { PaginatedResponse, Timestamp } from '../wire/envelopes.ts';
import { MAX_OFFSET, pageQuery } from '../wire/paging.ts';
import { issueNumberText } from '../wire/parameter-texts.ts';
import { route } from '../wire/route.ts';
import { SinceInput } from '../wire/timestamp-input.ts';

const LEVELS = ['debug', 'info', 'warn', 'error', 'fatal'] as const;

/** interface: Log entry. */
const LogEntry = z
  .object({
    timestamp: Timestamp,
    level: z.enum(LEVELS),
    msg: z.string(),
    agent: z.string().meta({ description: 'Agent name, taken from the log file name.' }),
    context: z.record(z.string(), z.unknown()).meta({ description: 'All other fields of the log entry.' }),
  })
  .meta({ id: 'LogEntry', description: 'A log entry of a process or an agent.' });

/** interface: Agent message. */
const AgentMessage = z
  .object({
    taskId: z.uuid(),
    invocationIndex: z.int().nonnegative(),
    sequence: z.int().nonnegative(),
    agent: z.string(),
    role: z.enum(['assistant', 'user', 'system']),
    subtype: z.enum(['text', 'thinking', 'tool_use', 'tool_result', 'system']),
    toolName: z.string().nullable(),
    toolInput: z.unknown().optional().meta({ description: 'Set for tool_use messages when include=tools.' }),
    toolOutput: z.unknown().optional().meta({ description: 'Set for tool_result messages when include=tools.' }),
    content: z
      .string()
      .nullable()
      .meta({ description: 'Message content. Null for tool_use and tool_result messages unless include=tools.' }),
    truncated: z.boolean(),
    createdAt: Timestamp,
  })
  .meta({ id: 'AgentMessage', description: 'A message of an agent transcript.' });

const logs = { auth: 'operator', tags: ['Logs'], method: 'get' } as const;
/** Documents the accepted integers; the description states that an empty value means the default. */
const asInteger =
  (minimum: number) =>
  ({ jsonSchema }: { jsonSchema: Record<string, unknown> }) => {
    delete jsonSchema.pattern;
    Object.assign(jsonSchema, { type: 'integer', minimum });
  };

/** Integer parameter: values below `min` are refused, values above `max` are clamped, empty means the default. */
const whole = (rule: { min: number; max: number; fallback: number; description: string }) =>
  z
    .string()
    .regex(/^-?\d*$/, 'must be a whole number')
    .transform((text) => (text === '' ? rule.fallback : Math.min(rule.max, Number(text))))
    .pipe(z.number('must be a whole number').min(rule.min, `must be ${rule.min} or more`))
    .default(rule.fallback)
    .meta({ description: rule.description, example: String(rule.fallback), override: asInteger(rule.min) });

export const listAgentMessages = route({
  ...logs,
  id: 'listAgentMessages',
  path: '/api/logs/messages',
  summary: 'List agent messages of an issue',
  description: 'Returns transcript messages in order. An unknown issue returns an empty list.',
  query: z.object({
    owner: z.string().min(1).max(100).meta({ description: 'Owner of the repo.', example: 'acme' }),
    repo: z.string().min(1).max(100).meta({ description: 'Name of the repo.', example: 'shop' }),
    tenant: z.string().max(200).optional().meta({
      description: 'External id of the tenant. Required only when several tenants have a repo with this name.',
      example: 'default',
    }),
    issue: issueNumberText('must be a positive integer').meta({
      description: 'Issue number on the host.',
      example: '7',
    }),
    taskId: z
      .uuid('must be a task id')
      .optional()
      .meta({ description: 'Returns only messages of this task.', example: '0198c5a4-7c1e-7000-8000-000000000001' }),
    invocation: z
      .string()
      .regex(/^\d{1,9}$/, 'must be a whole number, 0 or more')
      .transform(Number)
      .optional()
      .meta({ description: 'Returns only messages of this invocation, zero-based.', example: '0' }),
    include: z
      .literal('tools', 'must be tools')
      .optional()
      .meta({ description: '`tools` adds the content of tool_use and tool_result messages.', example: 'tools' }),
    ...pageQuery({ limit: { default: 500, max: 2000 }, notANumber: 'refuse' }),
  }),
  replies: {
    200: { description: 'One page of messages. `page.total` is null.', body: PaginatedResponse(AgentMessage) },
  },
});

const listLogs = route({
  ...logs,
  id: 'listLogs',
  path: '/api/logs',
  needsStore: false,
  summary: 'Search logs',
  description:
    'Returns entries of the log files, including rotated files, newest first. A missing or unreadable log directory returns an empty list.',
  query: z.object({
    agent: z
      .string()
      .optional()
      .meta({ description: 'Log file name without extension. Empty = all files.', example: 'monitor' }),
    level: z
      .enum(LEVELS, `must be one of ${LEVELS.join(', ')}`)
      .optional()
      .meta({ description: 'Minimum level.', example: 'warn' }),
    issue: z.string().optional().meta({ description: 'Value of the `issue` field. Empty = any.', example: '7' }),
    since: SinceInput.optional().meta({
      description:
        'Returns only entries at or after this time: a date or RFC 3339 date-time (UTC without a zone), or a duration before now, such as 1h.',
      example: '1h',
    }),
    search: z
      .string()
      .optional()
      .meta({ description: 'Substring of the message, case-insensitive.', example: 'refused' }),
    limit: whole({
      min: 1,
      max: 1000,
      fallback: 200,
      description: 'Maximum number of entries, 1 to 1000; larger values are clamped, empty means the default of 200.',
    }),
    offset: whole({
      min: 0,
      max: MAX_OFFSET,
      fallback: 0,
      description: 'Number of entries to skip; values above the maximum are clamped, empty means the default of 0.',
    }),
  }),
  replies: {
    200: { description: 'One page of entries. `page.total` counts all matches.', body: PaginatedResponse(LogEntry) },
  },
});

// Declaration order matters: the first match wins.
export const logRoutes = [listAgentMessages, listLogs] as const;
