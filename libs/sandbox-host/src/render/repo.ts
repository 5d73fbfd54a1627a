import type { Sandbox } from '../state/context.ts';
import type { LabelRecord, RepoRecord } from '../state/model.ts';
import { nodeId, renderUser } from './user.ts';

/** The links of a repository and where each one leads below its API address. */
const LINKS = {
  archive_url: '{archive_format}{/ref}',
  assignees_url: 'assignees{/user}',
  blobs_url: 'git/blobs{/sha}',
  branches_url: 'branches{/branch}',
  collaborators_url: 'collaborators{/collaborator}',
  comments_url: 'comments{/number}',
  commits_url: 'commits{/sha}',
  compare_url: 'compare/{base}...{head}',
  contents_url: 'contents/{+path}',
  contributors_url: 'contributors',
  deployments_url: 'deployments',
  downloads_url: 'downloads',
  events_url: 'events',
  forks_url: 'forks',
  git_commits_url: 'git/commits{/sha}',
  git_refs_url: 'git/refs{/sha}',
  git_tags_url: 'git/tags{/sha}',
  hooks_url: 'hooks',
  issue_comment_url: 'issues/comments{/number}',
  issue_events_url: 'issues/events{/number}',
  issues_url: 'issues{/number}',
  keys_url: 'keys{/key_id}',
  labels_url: 'labels{/name}',
  languages_url: 'languages',
  merges_url: 'merges',
  milestones_url: 'milestones{/number}',
  notifications_url: 'notifications{?since,all,participating}',
  pulls_url: 'pulls{/number}',
  releases_url: 'releases{/id}',
  stargazers_url: 'stargazers',
  statuses_url: 'statuses/{sha}',
  subscribers_url: 'subscribers',
  subscription_url: 'subscription',
  tags_url: 'tags',
  teams_url: 'teams',
  trees_url: 'git/trees{/sha}',
};

export const apiUrl = (sandbox: Sandbox, repo: RepoRecord): string =>
  `${sandbox.url()}/repos/${repo.owner}/${repo.name}`;
export const htmlUrl = (sandbox: Sandbox, repo: RepoRecord): string => `${sandbox.url()}/${repo.owner}/${repo.name}`;

/** GitHub's `full-repository`, which has all that `repository` and `minimal-repository` ask for. */
export function renderRepo(sandbox: Sandbox, repo: RepoRecord) {
  const url = apiUrl(sandbox, repo);
  const html = htmlUrl(sandbox, repo);
  const openIssues = sandbox.state.countOpen('issue', repo.id);
  return {
    id: repo.id,
    node_id: nodeId('Repository', repo.id),
    name: repo.name,
    full_name: `${repo.owner}/${repo.name}`,
    owner: renderUser(sandbox, repo.owner),
    private: repo.private,
    html_url: html,
    description: null,
    fork: repo.forkOf != null,
    url,
    ...Object.fromEntries(Object.entries(LINKS).map(([name, path]) => [name, `${url}/${path}`])),
    clone_url: `${html}.git`,
    git_url: `${html}.git`,
    ssh_url: `${html}.git`,
    svn_url: html,
    mirror_url: null,
    homepage: null,
    language: null,
    license: null,
    ...counts(openIssues),
    default_branch: repo.defaultBranch,
    is_template: false,
    topics: [],
    has_issues: true,
    has_projects: false,
    has_wiki: false,
    has_pages: false,
    has_downloads: false,
    has_discussions: false,
    archived: false,
    disabled: false,
    visibility: repo.private ? 'private' : 'public',
    allow_merge_commit: true,
    allow_squash_merge: true,
    allow_rebase_merge: true,
    pushed_at: repo.pushedAt,
    created_at: repo.createdAt,
    updated_at: repo.pushedAt,
  };
}

const counts = (openIssues: number) => ({
  forks: 0,
  forks_count: 0,
  network_count: 0,
  open_issues: openIssues,
  open_issues_count: openIssues,
  size: 0,
  stargazers_count: 0,
  subscribers_count: 0,
  watchers: 0,
  watchers_count: 0,
});

/** GitHub's `label`. */
export const renderLabel = (sandbox: Sandbox, repo: RepoRecord, label: LabelRecord) => ({
  id: label.id,
  node_id: nodeId('Label', label.id),
  url: `${apiUrl(sandbox, repo)}/labels/${encodeURIComponent(label.name)}`,
  name: label.name,
  color: label.color,
  default: false,
  description: label.description,
});
