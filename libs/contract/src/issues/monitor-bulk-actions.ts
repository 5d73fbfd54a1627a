import { ERROR_CLASSES, ERROR_CODES, MAX_ISSUE_NUMBER, parseSlug, STATES } from '@pipeline/domain';
import { z } from 'zod';
import { keptText, REASON_REFUSAL, Reason, RequiredReason } from '../wire/envelopes.ts';
import { route } from '../wire/route.ts';

/** Maximum number of issues per call. */
const MOST_IN_BULK = 500;

const CRITERIA = {
  repo: z
    .string()
    .refine((text) => parseSlug(text) !== null, 'must be owner/repo')
    .meta({ description: 'owner/repo', example: 'acme/shop' }),
  tenant: keptText(200).min(1).meta({ description: 'External id of the tenant.', example: 'default' }),
  states: z
    .array(z.enum(STATES))
    .min(1)
    .meta({
      description: 'Issues in any of these states. Default: every state except done.',
      example: ['failure-blocked'],
    }),
  blockReason: keptText(100).min(1).meta({ example: 'ci_hard_failure' }),
  blockClassification: z.enum(ERROR_CLASSES),
  errorPattern: keptText(8_000).min(1).meta({
    description: 'Error that blocks the issue: the error pattern as shown in lists, or a full message.',
    example: 'connect ECONNREFUSED <n>',
  }),
  fingerprint: z
    .string()
    .regex(/^[0-9a-f]{16}$/, 'must be 16 hexadecimal digits')
    .meta({
      description: 'Fingerprint of the error that blocks the issue.',
      example: '0123456789abcdef',
    }),
  isPaused: z.boolean(),
  isBlocked: z.boolean(),
  label: keptText(100).min(1).meta({ description: 'Label of the issue on the host.', example: 'bug' }),
  issueNumbers: z
    .array(z.int().min(1).max(MAX_ISSUE_NUMBER))
    .min(1)
    .max(MOST_IN_BULK)
    .meta({
      description: 'Issues with any of these numbers.',
      example: [7, 8],
    }),
};

// Strict: an unknown criterion must not be ignored, as that would widen the filter.
const filter = z
  .strictObject(CRITERIA, {
    error: ({ code, keys }) =>
      code === 'unrecognized_keys'
        ? `unknown criterion ${keys?.join(', ')}; expected ${Object.keys(CRITERIA).join(', ')}`
        : undefined,
  })
  .partial()
  .refine(
    (given) => Object.values(given).some((value) => value !== undefined),
    `must contain at least one of: ${Object.keys(CRITERIA).join(', ')}`,
  )
  .meta({
    description: 'Selects issues of enabled repos. An issue must match all given criteria. At least one is required.',
  });

const NO_NEXT = 'must be the `next` value of an earlier response';

const common = {
  filter,
  dryRun: z.boolean().default(true).meta({
    description: 'If true (default), returns the matching issues without changing them.',
    example: false,
  }),
  limit: z
    .int()
    .min(1)
    .max(MOST_IN_BULK)
    .default(MOST_IN_BULK)
    .meta({ description: 'Maximum number of issues to act on, 1 to 500. Default 500.' }),
  after: z
    .string()
    .regex(/^\d{1,15}\.\d{1,15}\.\d{1,10}$/, NO_NEXT)
    .refine((text) => Number(text.split('.').at(-1)) <= MAX_ISSUE_NUMBER, NO_NEXT)
    .optional()
    .meta({
      description: 'Cursor: the `next` value of the previous response.',
      example: '1.3.250',
    }),
};

const Body = z.discriminatedUnion('action', [
  z.strictObject({
    action: z.enum(['pause', 'resume', 'unblock', 'retry', 'cancel']),
    ...common,
    reason: Reason.optional(),
  }),
  z.strictObject({
    action: z.literal('transition'),
    targetState: z.string(),
    reason: RequiredReason,
    ...common,
  }),
]);

const one = { repo: z.string(), tenant: z.string(), issueNumber: z.int() };
const count = z.int().nonnegative();

const Answer = z.object({
  ok: z.literal(true),
  dryRun: z.boolean(),
  matched: count.meta({
    description: 'Number of issues after the cursor that match the filter; 10000 means 10000 or more.',
  }),
  succeeded: count,
  skipped: count.meta({
    description:
      'Number of selected issues that no longer matched the filter when they were processed. They are unchanged.',
  }),
  failed: z.array(z.object({ ...one, code: z.enum(ERROR_CODES), error: z.string() })),
  issues: z.array(z.object({ ...one, title: z.string(), state: z.enum(STATES) })).meta({
    description: 'Issues of this call with their current state.',
  }),
  next: z.string().nullable().meta({
    description: 'Cursor of the next call, to be sent as `after`. Null when no issues are left.',
    example: '1.3.250',
  }),
});

// Declared before the single-issue routes: the first match wins.
export const actOnIssues = route({
  id: 'actOnIssues',
  method: 'post',
  path: '/api/issues/actions',
  summary: 'Apply an action to many issues',
  description:
    'Changes nothing unless `dryRun` is false. A call processes at most 500 issues for about five seconds; `next` is the ' +
    'cursor for the following call. Each issue is changed in its own transaction with the semantics of the single-issue ' +
    'action. A failure does not stop the others, and an interrupted call leaves each issue either changed or ' +
    'unchanged. Calls may be repeated safely.',
  auth: 'operator',
  tags: ['Issue actions'],
  body: Body,
  replies: { 200: { description: 'Counts, failures and processed issues.', body: Answer } },
  errors: [{ code: 'NOT_FOUND', description: 'Unknown repo or tenant' }, 'INVALID_INPUT'],
  refusals: {
    fields: {
      targetState: { code: 'INVALID_STATE', message: 'targetState must be a string' },
      reason: REASON_REFUSAL,
    },
  },
});

export const bulkActionRoutes = [actOnIssues] as const;
