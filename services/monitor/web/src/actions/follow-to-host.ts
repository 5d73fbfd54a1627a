import { delay } from '@pipeline/web/timing/timers.ts';
import { request } from '../api/request.ts';
import type { ActionIssue } from './action.ts';

const EVERY_MS = 2_000;
const ATTEMPTS = 30;

/**
 * Waits until no host write of the issue is pending.
 * @returns `timeout` after one minute; `failed` when a write of the issue failed.
 */
export async function followToHost(issue: ActionIssue, signal: AbortSignal): Promise<'on-host' | 'failed' | 'timeout'> {
  for (let attempt = 0; attempt < ATTEMPTS && !signal.aborted; attempt += 1) {
    await delay(EVERY_MS, signal);
    const { projections } = await request('listProjections', {}, signal);
    const own = projections.filter(
      ({ repoOwner, repoName, issueNumber }) =>
        `${repoOwner}/${repoName}` === issue.repo && issueNumber === issue.issueNumber,
    );
    if (own.some(({ status }) => status === 'failed')) return 'failed';
    if (own.length === 0) return 'on-host';
  }
  return 'timeout';
}
