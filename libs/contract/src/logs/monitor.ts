import { z } from 'zod';
import { PaginatedResponse, Timestamp } from '../wire/envelopes.ts';
import { MAX_OFFSET, pageQuery } from '../wire/paging.ts';
import { issueNumberText } from '../wire/parameter-texts.ts';
import { route } from '../wire/route.ts';
import { SinceInput } from '../wire/timestamp-input.ts';

const LEVELS = ['debug', 'info', 'warn', 'error', 'fatal'] as const;

/** interface: Log entry. */
export const LogEntry = z
  .object({
    timestamp: Timestamp,
    level: z.enum(LEVELS),
    msg: z.string(),
    agent: z.string().meta({ description: 'From the name of the log file.' }),
    context: z.record(z.string(), z.unknown()).meta({ description: 'All other fields of the entry.' }),
  })
  .meta({ id: 'LogEntry', description: 'A line in the log of a process or an agent.' });

/** interface: Agent message. */
export const AgentMessage = z
  .object({
    taskId: z.uuid(),
    invocationIndex: z.int().nonnegative(),
    sequence: z.int().nonnegative(),
    agent: z.string(),
    role: z.enum(['assistant', 'user', 'system']),
    subtype: z.enum(['text', 'thinking', 'tool_use', 'tool_result', 'system']),
    toolName: z.string().nullable(),
    toolInput: z.unknown().optional().meta({ description: 'Of tool_use, with include=tools.' }),
    toolOutput: z.unknown().optional().meta({ description: 'Of tool_result, with include=tools.' }),
    content: z.string().nullable().meta({ description: 'Null for tool_use and tool_result unless include=tools.' }),
    truncated: z.boolean(),
    createdAt: Timestamp,
  })
  .meta({ id: 'AgentMessage', description: 'What an agent said or did during a task.' });

const logs = { auth: 'operator', tags: ['Logs'], method: 'get' } as const;
/** The document shows the numbers that are accepted; that an empty text means the default is said in words. */
const asInteger =
  (minimum: number) =>
  ({ jsonSchema }: { jsonSchema: Record<string, unknown> }) => {
    delete jsonSchema.pattern;
    Object.assign(jsonSchema, { type: 'integer', minimum });
  };

/** A whole number: below `min` is refused, above `max` is clamped, empty means the default. */
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
  summary: 'Read what agents said',
  description: 'The messages of the agents at work on an issue, in their order. An unknown issue has none.',
  query: z.object({
    owner: z.string().min(1).max(100).meta({ description: 'Owner of the repo.', example: 'acme' }),
    repo: z.string().min(1).max(100).meta({ description: 'Name of the repo.', example: 'shop' }),
    tenant: z.string().max(200).optional().meta({
      description: 'External id of the tenant; needed only where several have a repo of that name.',
      example: 'default',
    }),
    issue: issueNumberText('must be a positive integer').meta({
      description: 'Number of the issue on the host.',
      example: '7',
    }),
    taskId: z
      .uuid('must be the id of a task')
      .optional()
      .meta({ description: 'Only of this task.', example: '0198c5a4-7c1e-7000-8000-000000000001' }),
    invocation: z
      .string()
      .regex(/^\d{1,9}$/, 'must be a whole number, 0 or more')
      .transform(Number)
      .optional()
      .meta({ description: 'Only of this call of the model, counted from 0.', example: '0' }),
    include: z
      .literal('tools', 'must be tools')
      .optional()
      .meta({ description: 'Adds what tools were given and what they answered.', example: 'tools' }),
    ...pageQuery({ limit: { default: 500, max: 2000 }, notANumber: 'refuse' }),
  }),
  replies: { 200: { description: 'One page; its total is null.', body: PaginatedResponse(AgentMessage) } },
});

export const listLogs = route({
  ...logs,
  id: 'listLogs',
  path: '/api/logs',
  needsStore: false,
  summary: 'Search the logs',
  description: 'Entries of the log files, rotated ones included, newest first. Without a log folder there are none.',
  query: z.object({
    agent: z
      .string()
      .optional()
      .meta({ description: 'Name of the log file without its extension; empty = all.', example: 'monitor' }),
    level: z
      .enum(LEVELS, `must be one of ${LEVELS.join(', ')}`)
      .optional()
      .meta({ description: 'The least severe level wanted.', example: 'warn' }),
    issue: z.string().optional().meta({ description: 'Value of the field `issue`; empty = any.', example: '7' }),
    since: SinceInput.optional().meta({
      description:
        'Only entries of that time and later: a date or RFC 3339 date-time (UTC without a zone), or a duration back from now.',
      example: '1h',
    }),
    search: z.string().optional().meta({ description: 'A part of the message, in any case.', example: 'refused' }),
    limit: whole({
      min: 1,
      max: 1000,
      fallback: 200,
      description: 'How many entries, 1 to 1000; more is clamped, empty means the default.',
    }),
    offset: whole({
      min: 0,
      max: MAX_OFFSET,
      fallback: 0,
      description: 'How many entries to skip; a larger number than can be skipped is clamped, empty means the default.',
    }),
  }),
  replies: { 200: { description: 'One page; its total counts all that match.', body: PaginatedResponse(LogEntry) } },
});

// The first match wins.
export const logRoutes = [listAgentMessages, listLogs] as const;
