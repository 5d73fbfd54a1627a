import { ERROR_CLASSES, ERROR_CODES, MAX_ISSUE_NUMBER, parseSlug, STATES } from '@pipeline/domain';
import { z } from 'zod';
import { keptText, REASON_REFUSAL, Reason, RequiredReason } from '../envelopes.ts';
import { route } from '../route.ts';

/** Issues that one call may act on. */
export const MOST_IN_BULK = 500;

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
      description: 'Any of them. Without it every state but done.',
      example: ['failure-blocked'],
    }),
  blockReason: keptText(100).min(1).meta({ example: 'ci_hard_failure' }),
  blockClassification: z.enum(ERROR_CLASSES),
  errorPattern: keptText(8_000).min(1).meta({
    description: 'Of the error that blocks the issue: its pattern as lists show it, or a whole message.',
    example: 'connect ECONNREFUSED <n>',
  }),
  fingerprint: z
    .string()
    .regex(/^[0-9a-f]{16}$/, 'must be 16 hexadecimal digits')
    .meta({
      description: 'Of the error that blocks the issue.',
      example: '0123456789abcdef',
    }),
  isPaused: z.boolean(),
  isBlocked: z.boolean(),
  label: keptText(100).min(1).meta({ description: 'One that the issue has on the host.', example: 'bug' }),
  issueNumbers: z
    .array(z.int().min(1).max(MAX_ISSUE_NUMBER))
    .min(1)
    .max(MOST_IN_BULK)
    .meta({
      description: 'Any of them.',
      example: [7, 8],
    }),
};

// Strict: a misspelt criterion must not widen the filter.
const filter = z
  .strictObject(CRITERIA, {
    error: ({ code, keys }) =>
      code === 'unrecognized_keys'
        ? `knows no ${keys?.join(', ')}, but ${Object.keys(CRITERIA).join(', ')}`
        : undefined,
  })
  .partial()
  .refine(
    (given) => Object.values(given).some((value) => value !== undefined),
    `must name at least one of: ${Object.keys(CRITERIA).join(', ')}`,
  )
  .meta({
    description: 'Which issues of enabled repos are meant: all that is given must hold. At least one criterion.',
  });

const NO_NEXT = 'must be the `next` of an earlier answer';

const common = {
  filter,
  dryRun: z.boolean().default(true).meta({
    description: 'true, which it is unless told otherwise: only tells what would be acted on.',
    example: false,
  }),
  limit: z.int().min(1).max(MOST_IN_BULK).default(MOST_IN_BULK).meta({ description: 'Most issues to act on.' }),
  after: z
    .string()
    .regex(/^\d{1,15}\.\d{1,15}\.\d{1,10}$/, NO_NEXT)
    .refine((text) => Number(text.split('.').at(-1)) <= MAX_ISSUE_NUMBER, NO_NEXT)
    .optional()
    .meta({
      description: '`next` of the call before: goes on behind it.',
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
  matched: count.meta({ description: 'How many issues meet the filter behind `after`; 10000 = that many or more.' }),
  succeeded: count,
  skipped: count.meta({ description: 'Chosen, but no longer meeting the filter when their turn came: left alone.' }),
  failed: z.array(z.object({ ...one, code: z.enum(ERROR_CODES), error: z.string() })),
  issues: z.array(z.object({ ...one, title: z.string(), state: z.enum(STATES) })).meta({
    description: 'Those of this call, with the state they are in now.',
  }),
  next: z.string().nullable().meta({
    description: 'Not null: there are more. Repeat the call with this as `after`.',
    example: '1.3.250',
  }),
});

// Before the routes of one issue: the first match wins.
export const actOnIssues = route({
  id: 'actOnIssues',
  method: 'post',
  path: '/api/issues/actions',
  summary: 'Do one thing to many issues',
  description:
    'To at most 500 issues, and for about five seconds, a call; `next` tells where to go on. Each issue is a change of ' +
    'its own, made as by the action on one issue: one that fails does not stop the others, and a call that breaks off ' +
    'leaves each issue done or untouched. Repeating is harmless. Nothing is done unless dryRun is false.',
  auth: 'operator',
  tags: ['Issue actions'],
  body: Body,
  replies: { 200: { description: 'Counts first, then what failed and why, then the issues.', body: Answer } },
  errors: [{ code: 'NOT_FOUND', description: 'Unknown repo or tenant.' }, 'INVALID_INPUT'],
  refusals: {
    fields: {
      targetState: { code: 'INVALID_STATE', message: 'targetState must be a string' },
      reason: REASON_REFUSAL,
    },
  },
});

export const bulkActionRoutes = [actOnIssues] as const;
