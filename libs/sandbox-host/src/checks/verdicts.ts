import type { CheckRecord, PullIssue, RepoRecord, Sandbox, StatusRecord } from '../state/model.ts';

export type Verdict = 'success' | 'pending' | 'failure';

const GREEN: readonly (string | null)[] = ['success', 'neutral', 'skipped'];

/** The newest status of each context of a commit. */
export function latestStatuses({ state }: Sandbox, repo: RepoRecord, sha: string): StatusRecord[] {
  const all = state.list('status', repo.id).filter((status) => status.sha === sha);
  // A Map keeps the last value of a key.
  return [...new Map(all.map((status) => [status.context, status])).values()];
}

/** The newest run of each name in each suite of a commit. */
export function latestRuns({ state }: Sandbox, repo: RepoRecord, sha: string): CheckRecord[] {
  const all = state.list('check', repo.id).filter((check) => check.sha === sha);
  return [...new Map(all.map((check) => [`${check.suiteId ?? 0} ${check.name}`, check])).values()];
}

/**
 * Returns verdicts by context: a run or a status that failed counts before one that is pending, and that before a green
 * one.
 */
export function verdictsOf(sandbox: Sandbox, repo: RepoRecord, sha: string): Map<string, Verdict> {
  const verdicts = new Map<string, Verdict>();
  const add = (name: string, verdict: Verdict) => {
    const known = verdicts.get(name);
    if (known === 'failure' || (known === 'pending' && verdict === 'success')) return;
    verdicts.set(name, verdict);
  };
  for (const { context, state } of latestStatuses(sandbox, repo, sha)) {
    add(context, state === 'error' ? 'failure' : state);
  }
  for (const { name, status, conclusion } of latestRuns(sandbox, repo, sha)) {
    add(name, status !== 'completed' ? 'pending' : GREEN.includes(conclusion) ? 'success' : 'failure');
  }
  return verdicts;
}

/** Open pull requests from branches of the repository itself whose head is that commit. */
export const pullsAt = ({ state }: Sandbox, repo: RepoRecord, sha: string): PullIssue[] =>
  state
    .list('issue', repo.id)
    .filter((issue): issue is PullIssue => issue.pull !== null)
    .filter(({ state: is, pull }) => is === 'open' && pull.headSha === sha && (pull.headRepoId ?? repo.id) === repo.id);
