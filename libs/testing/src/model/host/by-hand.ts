import type { HostPullRequest } from '@pipeline/domain';
import type { HostState } from './state.ts';

/** A person's own pull request for an issue, at a commit. @returns the open one, after a push of the commit to it. */
export function openByHand(state: HostState, number: number, sha: string): HostPullRequest {
  const headRef = `by-hand-${number}`;
  state.push(headRef, sha, 'anna');
  const draft = { title: 'By hand', body: `Fixes #${number}`, headRef, baseRef: 'main' };
  return state.openPullsOf(headRef)[0] ?? state.openPull(draft, 'anna');
}
