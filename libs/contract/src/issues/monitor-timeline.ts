import { z } from 'zod';
import { tenantQuery } from '../repos/query.ts';
import { route } from '../wire/route.ts';
import { anyIssueParams } from './address.ts';
import { IssueTimeline } from './timeline.ts';

const WholeTimeline = IssueTimeline.extend({
  totalEntries: z
    .int()
    .nonnegative()
    .meta({ description: 'Number of all entries. At most the latest 5,000 are returned.' }),
}).meta({ id: 'WholeTimeline' });

const readTimeline = route({
  id: 'readTimeline',
  method: 'get',
  path: '/api/timeline/{owner}/{repo}/{issue}',
  summary: 'Get the timeline of an issue',
  description:
    'Returns transitions, runs, events, host writes, findings, operator actions and dead letters, oldest first.',
  tags: ['Issues'],
  auth: 'operator',
  // Without a store, the handler returns the message that the interface specifies.
  needsStore: false,
  params: anyIssueParams,
  query: tenantQuery,
  replies: { 200: { description: 'Issue timeline.', body: WholeTimeline } },
  errors: [
    'ISSUE_NOT_FOUND',
    {
      code: 'STORE_UNAVAILABLE',
      description: 'No repo context available for owner/repo: the repo is unknown or the store is unavailable',
    },
  ],
  refusals: { params: { code: 'INVALID_ISSUE_NUMBER', message: 'Invalid issue number' } },
  failure: { code: 'INTERNAL_ERROR', message: 'Failed to build timeline' },
});

export const timelineRoutes = [readTimeline] as const;
