import { AUDIT_CURSOR, PAGE_RULES } from '@pipeline/domain';
import { z } from 'zod';
import { Timestamp } from '../wire/envelopes.ts';
import { pageQuery } from '../wire/paging.ts';
import { route } from '../wire/route.ts';
import { SinceInput } from '../wire/timestamp-input.ts';

const audit = {
  method: 'get',
  tags: ['Audit'],
  auth: 'operator',
  errors: ['INVALID_INPUT'],
} as const;

const AuditEntry = z
  .object({
    id: z.string().meta({ description: 'Unique over all entries.', example: 'event-4711' }),
    at: Timestamp,
    actorType: z.string().meta({
      description: '`operator`, `user` of the hosted API, `client` (a connected program), `system` or another type.',
    }),
    actor: z.string().meta({
      description:
        'Login of the operator, name of the administrator, email of the user, id of the client, or the process.',
    }),
    action: z.string().meta({ example: 'pause' }),
    target: z.string().meta({
      description: '`owner/name#7` or `owner/name` for an action on a repo; otherwise a subject such as `user anna`.',
    }),
    repo: z.string().nullable().meta({ description: '`owner/name`. Null for an action outside any repo.' }),
    issueNumber: z.int().nullable(),
    reason: z.string().nullable().meta({ description: 'The reason as it was given.' }),
    details: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'AuditEntry', description: 'Who did what, when and why.' });

const filters = {
  actor: z.string().min(1).max(200).optional().meta({ description: 'Only actions of this actor.', example: 'olga' }),
  action: z.string().min(1).max(100).optional().meta({ description: 'Only this action.', example: 'cancel' }),
  target: z.string().min(1).max(300).optional().meta({
    description: 'Only actions on this repo with its issues (`owner/name`), issue (`owner/name#7`) or other subject.',
    example: 'acme/shop',
  }),
  since: SinceInput.optional().meta({
    description:
      'Only actions at or after this time: a timestamp (UTC without a zone) or a duration before now, such as 1d.',
    example: '2026-01-02T03:04:05.678Z',
  }),
  until: SinceInput.optional().meta({
    description: 'Only actions before this time, in the same forms.',
    example: '2026-01-03T03:04:05.678Z',
  }),
};

const listAudit = route({
  ...audit,
  id: 'listAudit',
  path: '/api/audit',
  summary: 'List the actions of operators',
  description:
    'Newest first: actions on repos and issues, and actions outside any repo, such as those on users, worker tokens and agents, logins and connections of users, and failed logins. Actions on repos are kept as long as pipeline events.',
  query: z.object({
    ...filters,
    limit: pageQuery({ limit: PAGE_RULES.audit, notANumber: 'refuse' }).limit,
    after: z.string().max(64).regex(AUDIT_CURSOR, 'must be the next of a page').optional().meta({
      description: 'Field `next` of the previous page.',
      example: '2026-01-02T03:04:05.678901Z~event~4711',
    }),
  }),
  replies: {
    200: {
      description: 'One page of actions.',
      body: z.object({
        items: z.array(AuditEntry),
        next: z.string().nullable().meta({ description: 'Pass as `after` for the next page. Null: the last page.' }),
      }),
    },
  },
});

/** Entries of one export at most. */
export const AUDIT_EXPORT_LIMIT = 100_000;

const exportAudit = route({
  ...audit,
  id: 'exportAudit',
  path: '/api/audit/export',
  summary: 'Export the actions of operators',
  description: `Streams the matching actions, newest first, at most ${AUDIT_EXPORT_LIMIT}; pass the time of the last one as \`until\` to continue. In CSV, cells that a spreadsheet would read as a formula begin with an apostrophe.`,
  query: z.object({
    ...filters,
    format: z.enum(['csv', 'json'], 'must be csv or json').meta({
      description: '`csv`: one row for each action, with a header. `json`: an array of `AuditEntry`.',
      example: 'csv',
    }),
  }),
  replies: {
    200: {
      description: 'The file, as an attachment.',
      streamed: true,
      type: '*/*',
      content: { 'text/csv': z.string(), 'application/json': z.array(AuditEntry) },
    },
  },
});

export const auditRoutes = [listAudit, exportAudit] as const;
