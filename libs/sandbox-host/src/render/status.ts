import type { Sandbox } from '../state/context.ts';
import type { CheckRecord, RepoRecord, StatusRecord } from '../state/model.ts';
import { apiUrl, htmlUrl, renderRepo } from './repo.ts';
import { nodeId, renderUser } from './user.ts';

/** GitHub's `status`, which has all of `simple-commit-status`. */
export function renderStatus(sandbox: Sandbox, repo: RepoRecord, status: StatusRecord) {
  const creator = renderUser(sandbox, status.author);
  return {
    url: `${apiUrl(sandbox, repo)}/statuses/${status.sha}`,
    avatar_url: creator.avatar_url,
    id: status.id,
    node_id: nodeId('Status', status.id),
    state: status.state,
    description: status.description,
    target_url: status.targetUrl,
    context: status.context,
    created_at: status.createdAt,
    updated_at: status.createdAt,
    creator,
  };
}

/** GitHub's `combined-commit-status`: failure before pending before success; none at all is pending. */
export function renderCombined(
  sandbox: Sandbox,
  repo: RepoRecord,
  sha: string,
  { latest, shown }: { latest: StatusRecord[]; shown: StatusRecord[] },
) {
  const states = latest.map((status) => status.state);
  const failed = states.includes('failure') || states.includes('error');
  const pending = states.length === 0 || states.includes('pending');
  const commit = `${apiUrl(sandbox, repo)}/commits/${sha}`;
  return {
    state: failed ? 'failure' : pending ? 'pending' : 'success',
    statuses: shown.map((status) => renderStatus(sandbox, repo, status)),
    sha,
    total_count: latest.length,
    repository: renderRepo(sandbox, repo),
    commit_url: commit,
    url: `${commit}/status`,
  };
}

/** GitHub's `check-run`. */
export function renderCheck(sandbox: Sandbox, repo: RepoRecord, check: CheckRecord) {
  const url = `${apiUrl(sandbox, repo)}/check-runs/${check.id}`;
  return {
    id: check.id,
    node_id: nodeId('CheckRun', check.id),
    head_sha: check.sha,
    external_id: '',
    url,
    html_url: `${htmlUrl(sandbox, repo)}/runs/${check.id}`,
    details_url: null,
    status: check.status,
    conclusion: check.conclusion,
    started_at: check.startedAt,
    completed_at: check.completedAt,
    output: { title: null, summary: null, text: null, annotations_count: 0, annotations_url: `${url}/annotations` },
    name: check.name,
    check_suite: null,
    app: null,
    pull_requests: [],
  };
}
