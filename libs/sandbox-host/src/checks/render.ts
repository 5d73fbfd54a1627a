import { apiUrl, htmlUrl, nodeId, renderRepo, renderUser } from '../render/basics.ts';
import {
  type CheckRecord,
  GLOBAL,
  type RepoRecord,
  type Sandbox,
  type StatusRecord,
  type SuiteRecord,
} from '../state/model.ts';
import { latestRuns, pullsAt } from './verdicts.ts';

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

const ACTIONS = { id: 15_368, slug: 'github-actions', name: 'GitHub Actions' };

/** GitHub's `integration`: the app that made a suite. */
function renderApp(sandbox: Sandbox, appId: number | null) {
  const app = appId === null ? undefined : sandbox.state.get('app', GLOBAL, appId);
  const { id, slug, name } = app ? { id: app.id, slug: app.slug, name: app.slug } : ACTIONS;
  const at = app?.createdAt ?? '2020-01-01T00:00:00Z';
  return {
    id,
    slug,
    node_id: nodeId('Integration', id),
    owner: renderUser(sandbox, slug),
    name,
    description: null,
    external_url: sandbox.url(),
    html_url: `${sandbox.url()}/apps/${slug}`,
    created_at: at,
    updated_at: at,
    permissions: {},
    events: [],
  };
}

/** GitHub's `pull-request-minimal` of each open pull request of the repository itself with this head. */
function renderPulls(sandbox: Sandbox, repo: RepoRecord, sha: string) {
  const place = { id: repo.id, url: apiUrl(sandbox, repo), name: repo.name };
  return pullsAt(sandbox, repo, sha).map(({ id, number, pull }) => ({
    id,
    number,
    url: `${place.url}/pulls/${number}`,
    head: { ref: pull.headRef, sha: pull.headSha, repo: place },
    base: { ref: pull.baseRef, sha: pull.baseSha, repo: place },
  }));
}

/** GitHub's `check-run`. */
export function renderCheck(sandbox: Sandbox, repo: RepoRecord, check: CheckRecord) {
  const url = `${apiUrl(sandbox, repo)}/check-runs/${check.id}`;
  const { title = null, summary = null, text = null } = check.output ?? {};
  const suite = check.suiteId === undefined ? undefined : sandbox.state.get('suite', repo.id, check.suiteId);
  return {
    id: check.id,
    node_id: nodeId('CheckRun', check.id),
    head_sha: check.sha,
    external_id: check.externalId ?? '',
    url,
    html_url: `${htmlUrl(sandbox, repo)}/runs/${check.id}`,
    details_url: check.detailsUrl ?? null,
    status: check.status,
    conclusion: check.conclusion,
    started_at: check.startedAt,
    completed_at: check.completedAt,
    output: { title, summary, text, annotations_count: 0, annotations_url: `${url}/annotations` },
    name: check.name,
    check_suite: suite ? { id: suite.id } : null,
    app: suite ? renderApp(sandbox, suite.appId) : null,
    pull_requests: renderPulls(sandbox, repo, check.sha),
  };
}

/** GitHub's `check-suite`. Its conclusion is the worst of its runs. */
export function renderSuite(sandbox: Sandbox, repo: RepoRecord, suite: SuiteRecord) {
  const url = `${apiUrl(sandbox, repo)}/check-suites/${suite.id}`;
  const runs = latestRuns(sandbox, repo, suite.sha).filter(({ suiteId }) => suiteId === suite.id);
  const done = runs.length > 0 && runs.every(({ status }) => status === 'completed');
  return {
    id: suite.id,
    node_id: nodeId('CheckSuite', suite.id),
    head_branch: suite.branch,
    head_sha: suite.sha,
    status: done ? 'completed' : runs.length === 0 ? 'queued' : 'in_progress',
    conclusion: done ? worst(runs.map(({ conclusion }) => conclusion)) : null,
    url,
    before: null,
    after: suite.sha,
    pull_requests: renderPulls(sandbox, repo, suite.sha),
    app: renderApp(sandbox, suite.appId),
    repository: renderRepo(sandbox, repo),
    created_at: suite.createdAt,
    updated_at: suite.updatedAt,
    latest_check_runs_count: runs.length,
    check_runs_url: `${url}/check-runs`,
  };
}

const WORST = ['failure', 'timed_out', 'action_required', 'cancelled', 'stale', 'success', 'neutral', 'skipped'];

const worst = (conclusions: readonly (string | null)[]): string =>
  WORST.find((each) => conclusions.includes(each)) ?? 'neutral';

/** GitHub's payload of the webhook `status`. */
export const renderStatusEvent = (sandbox: Sandbox, repo: RepoRecord, status: StatusRecord) => ({
  id: status.id,
  sha: status.sha,
  name: `${repo.owner}/${repo.name}`,
  avatar_url: null,
  target_url: status.targetUrl,
  context: status.context,
  description: status.description,
  state: status.state,
  commit: { sha: status.sha, url: `${apiUrl(sandbox, repo)}/commits/${status.sha}` },
  branches: pullsAt(sandbox, repo, status.sha).map(({ pull }) => ({
    name: pull.headRef,
    commit: { sha: status.sha, url: `${apiUrl(sandbox, repo)}/commits/${status.sha}` },
    protected: false,
  })),
  created_at: status.createdAt,
  updated_at: status.createdAt,
});
