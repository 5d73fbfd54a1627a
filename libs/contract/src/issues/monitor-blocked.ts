import { type BlockedIssueEntry, type ErrorPattern as DomainPattern, STATES } from '@pipeline/domain';
import { z } from 'zod';
import { PolledAt, Timestamp } from '../wire/envelopes.ts';
import { route } from '../wire/route.ts';

/** interface: Blocked issue entry. */
const BlockedIssue = z
  .object({
    owner: z.string(),
    repo: z.string(),
    issueNumber: z.int().positive(),
    title: z.string(),
    state: z.enum(STATES),
    blockReason: z
      .string()
      .nullable()
      .meta({ description: 'Code of the block reason taxonomy.', example: 'ci_hard_failure' }),
    blockedSince: Timestamp.nullable(),
    lastError: z.string().nullable(),
    errorPattern: z.string().nullable().meta({
      description: 'Error message with numbers, paths, names and times removed.',
    }),
  })
  .meta({ id: 'BlockedIssue', description: 'A blocked issue with its block reason and last error.' });

const ErrorPattern = z.object({
  pattern: z.string(),
  count: z.int().positive(),
  issues: z.array(BlockedIssue.pick({ owner: true, repo: true, issueNumber: true })),
});

const wire: (entry: BlockedIssueEntry) => z.input<typeof BlockedIssue> = (entry) => entry;
const wirePattern: (entry: DomainPattern) => z.input<typeof ErrorPattern> = (entry) => entry;
void wire;
void wirePattern;

const listBlockedIssues = route({
  id: 'listBlockedIssues',
  method: 'get',
  path: '/api/blocked-issues',
  summary: 'List blocked issues',
  description:
    'Returns the blocked issues of all enabled repos as of the last poll, longest blocked first; at most 5,000. `patterns` groups them by error pattern, largest group first.',
  tags: ['Observability'],
  auth: 'operator',
  replies: {
    200: {
      description: 'Blocked issues and error patterns.',
      body: z.object({
        issues: z.array(BlockedIssue),
        patterns: z.array(ErrorPattern),
        total: z.int().nonnegative().meta({ description: 'Number of all blocked issues, including those not listed.' }),
        polledAt: PolledAt,
      }),
    },
  },
});

export const blockedIssueRoutes = [listBlockedIssues] as const;
