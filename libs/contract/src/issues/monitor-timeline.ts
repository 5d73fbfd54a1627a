import { z } from 'zod';
import { tenantQuery } from '../repos/query.ts';
import { route } from '../wire/route.ts';
import { anyIssueParams } from './address.ts';
import { IssueTimeline } from './timeline.ts';

export const WholeTimeline = IssueTimeline.extend({
  totalEntries: z
    .int()
    .nonnegative()
    .meta({ description: 'How many entries there are; the newest 5,000 of them are told.' }),
}).meta({ id: 'WholeTimeline' });

export const readTimeline = route({
  id: 'readTimeline',
  method: 'get',
  path: '/api/timeline/{owner}/{repo}/{issue}',
  summary: 'Tell the story of an issue',
  description: 'Moves, runs, events, writes to the host, findings and dead letters, oldest first.',
  tags: ['Issues'],
  auth: 'operator',
  // Without a store there is no context of any repo, and the answer says so in its own words.
  needsStore: false,
  params: anyIssueParams,
  query: tenantQuery,
  replies: { 200: { description: 'The story.', body: WholeTimeline } },
  errors: [
    'ISSUE_NOT_FOUND',
    {
      code: 'STORE_UNAVAILABLE',
      description: 'No repo context available for owner/repo: it is unknown, or the store is away.',
    },
  ],
  refusals: { params: { code: 'INVALID_ISSUE_NUMBER', message: 'Invalid issue number' } },
  failure: { code: 'INTERNAL_ERROR', message: 'Failed to build timeline' },
});

export const timelineRoutes = [readTimeline] as const;
