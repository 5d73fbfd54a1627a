import type { CheckRecord, PullIssue, RepoRecord, RequiredCheck, Sandbox, StatusRecord } from '../state/model.ts';

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

/** Returns the verdict of a required check: of the runs and statuses of its app alone, if it names one. */
export function verdictOf(sandbox: Sandbox, repo: RepoRecord, sha: string, check: RequiredCheck): Verdict | undefined {
  return verdictsOf(sandbox, repo, sha, check.appId).get(check.context);
}

/**
 * Returns verdicts by context: a run or a status that failed counts before one that is pending, and that before a green
 * one.
 * @param from app whose runs and statuses count; null = those of all.
 */
export function verdictsOf(
  sandbox: Sandbox,
  repo: RepoRecord,
  sha: string,
  from: number | null = null,
): Map<string, Verdict> {
  const isFrom = (appId: number | null | undefined) => from === null || appId === from;
  const suites = new Map(sandbox.state.list('suite', repo.id).map(({ id, appId }) => [id, appId]));
  const verdicts = new Map<string, Verdict>();
  const add = (name: string, verdict: Verdict) => {
    const known = verdicts.get(name);
    if (known === 'failure' || (known === 'pending' && verdict === 'success')) return;
    verdicts.set(name, verdict);
  };
  for (const { context, state } of latestStatuses(sandbox, repo, sha).filter(({ appId }) => isFrom(appId))) {
    add(context, state === 'error' ? 'failure' : state);
  }
  const runs = latestRuns(sandbox, repo, sha).filter(({ suiteId = 0 }) => isFrom(suites.get(suiteId)));
  for (const { name, status, conclusion } of runs) {
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
