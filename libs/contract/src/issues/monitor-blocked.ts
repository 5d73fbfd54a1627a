import { type BlockedIssueEntry, type ErrorPattern as DomainPattern, STATES } from '@pipeline/domain';
import { z } from 'zod';
import { PolledAt, Timestamp } from '../wire/envelopes.ts';
import { route } from '../wire/route.ts';

/** interface: Blocked issue entry. */
export const BlockedIssue = z
  .object({
    owner: z.string(),
    repo: z.string(),
    issueNumber: z.int().positive(),
    title: z.string(),
    state: z.enum(STATES),
    blockReason: z.string().nullable().meta({ description: 'Code of the taxonomy.', example: 'ci_hard_failure' }),
    blockedSince: Timestamp.nullable(),
    lastError: z.string().nullable(),
    errorPattern: z.string().nullable().meta({
      description: 'What stays of the error when numbers, paths, names and times are left out.',
    }),
  })
  .meta({ id: 'BlockedIssue', description: 'An issue that cannot go on, and why.' });

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
  summary: 'List the blocked issues',
  description:
    'Of the enabled repos, as of the last poll, those that stand longest first: at most 5,000. `patterns` groups them by their error, the largest group first.',
  tags: ['Observability'],
  auth: 'operator',
  replies: {
    200: {
      description: 'The issues and their patterns.',
      body: z.object({
        issues: z.array(BlockedIssue),
        patterns: z.array(ErrorPattern),
        total: z.int().nonnegative().meta({ description: 'Of all, also those that are not listed.' }),
        polledAt: PolledAt,
      }),
    },
  },
});

export const blockedIssueRoutes = [listBlockedIssues] as const;
