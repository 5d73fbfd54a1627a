import { AppError } from '@pipeline/domain';
import { issueTimeline, type ReadScope, type Store, type TimelineRow } from '@pipeline/store';
import { repoNotFound } from '../repos/repo-not-found.ts';

type Found = NonNullable<TimelineRow['issue']>;

export interface Timeline extends Omit<Found, 'total'> {
  repo: string;
  serverTimestamp: string;
}

/**
 * A page of an issue's timeline, oldest first: one statement on the read pool.
 * @returns also the total number of entries.
 * @throws AppError REPO_NOT_FOUND, ISSUE_NOT_FOUND.
 */
export async function timelineOf(
  store: Store,
  scope: ReadScope,
  query: { slug: string; number: number; limit: number; offset: number },
): Promise<{ timeline: Timeline; total: number }> {
  const row = await issueTimeline(store.read, scope, query);
  if (!row) throw repoNotFound();
  if (!row.issue) throw new AppError('ISSUE_NOT_FOUND', `Issue not found: ${row.repo}#${query.number}`);
  const { total, ...story } = row.issue;
  return { timeline: { repo: row.repo, ...story, serverTimestamp: row.now }, total };
}
