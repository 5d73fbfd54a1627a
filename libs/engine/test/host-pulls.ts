import type { HostEvent, HostPullRequest, HostReview } from '@pipeline/domain';
import { applyHostEvent } from '@pipeline/engine';
import type { Bench } from './harness.ts';

type Place = Pick<Bench, 'engine' | 'repo' | 'host'>;

/** The pull request that the pipeline opened for issue 1, in host form; `over` overrides fields. */
export const hostPull = ({ repo }: Pick<Place, 'repo'>, over: Partial<HostPullRequest> = {}): HostPullRequest => ({
  number: 1_001,
  title: 't',
  body: '',
  url: 'http://host/1001',
  state: 'open',
  merged: false,
  mergedAt: null,
  mergeCommitSha: null,
  headRepo: `${repo.owner}/${repo.name}`,
  headRef: 'svc/issue-1',
  headSha: 'abc1234',
  baseRef: 'main',
  author: 'pipeline-bot',
  draft: false,
  createdAt: '2026-03-01T00:00:00.000Z',
  updatedAt: '2026-03-01T00:00:00.000Z',
  ...over,
});

type PullAction = Extract<HostEvent, { kind: 'pull-request' }>['action'];

/** The event of a webhook, or with `seen` of a poll, about a pull request. */
export const reportPull = (
  place: Place,
  action: PullAction,
  over: Partial<HostPullRequest> = {},
  sender: string | null = 'alice',
): Promise<void> => {
  const pullRequest = hostPull(place, over);
  return applyHostEvent(place, { kind: 'pull-request', action, repo: place.repo, pullRequest, sender });
};

/** A push to the branch of the pipeline's own pull request. */
export const reportPush = (place: Place, headSha: string, over: Partial<HostPullRequest> = {}): Promise<void> =>
  reportPull(place, 'synchronize', { headSha, updatedAt: '2026-03-01T00:01:00.000Z', ...over });

let reviews = 0;

/** The event of a webhook about a review. */
export function reportReview(place: Place, prNumber: number, over: Partial<HostReview> = {}): Promise<void> {
  reviews += 1;
  const at = { submittedAt: '2026-03-01T00:02:00.000Z', commitSha: 'abc1234' };
  const review: HostReview = { id: reviews, author: 'anna', verdict: 'approved', body: 'fine', ...at, ...over };
  return applyHostEvent(place, { kind: 'review', repo: place.repo, prNumber, review, sender: review.author });
}
