import type { IssueRecord, LabelRecord, PullRecord, RepoRecord, Sandbox, UserRecord } from '../state/model.ts';

export const nodeId = (kind: string, id: number): string => Buffer.from(`${kind}:${id}`).toString('base64url');

/** GitHub's `simple-user`. */
export function renderUser(sandbox: Sandbox, login: string) {
  const user = sandbox.state.findUser(login);
  const url = `${sandbox.url()}/users/${encodeURIComponent(login)}`;
  return {
    login,
    id: user?.id ?? 0,
    node_id: nodeId('User', user?.id ?? 0),
    avatar_url: `${url}/avatar`,
    gravatar_id: '',
    url,
    html_url: `${sandbox.url()}/${encodeURIComponent(login)}`,
    followers_url: `${url}/followers`,
    following_url: `${url}/following{/other_user}`,
    gists_url: `${url}/gists{/gist_id}`,
    starred_url: `${url}/starred{/owner}{/repo}`,
    subscriptions_url: `${url}/subscriptions`,
    organizations_url: `${url}/orgs`,
    repos_url: `${url}/repos`,
    events_url: `${url}/events{/privacy}`,
    received_events_url: `${url}/received_events`,
    type: user?.type ?? 'User',
    user_view_type: 'public',
    site_admin: false,
  };
}

/** GitHub's `private-user`: the fields that users see of themselves. */
export const renderSelf = (sandbox: Sandbox, user: UserRecord) => ({
  ...renderUser(sandbox, user.login),
  user_view_type: 'private',
  name: user.login,
  company: null,
  blog: null,
  location: null,
  email: null,
  hireable: null,
  bio: null,
  twitter_username: null,
  public_repos: 0,
  public_gists: 0,
  followers: 0,
  following: 0,
  created_at: user.createdAt,
  updated_at: user.createdAt,
  private_gists: 0,
  total_private_repos: 0,
  owned_private_repos: 0,
  disk_usage: 0,
  collaborators: 0,
  two_factor_authentication: false,
});

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
  const methods = repo.mergeMethods ?? ['merge', 'squash', 'rebase'];
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
    archived: repo.archived ?? false,
    disabled: false,
    visibility: repo.private ? 'private' : 'public',
    allow_auto_merge: repo.allowAutoMerge ?? false,
    allow_merge_commit: methods.includes('merge'),
    allow_squash_merge: methods.includes('squash'),
    allow_rebase_merge: methods.includes('rebase'),
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

/** `owner:branch`, by which the host lists and names the head of a pull request. */
export const headLabel = (repo: RepoRecord, { headOwner = repo.owner, headRef }: PullRecord): string =>
  `${headOwner}:${headRef}`;

/** GitHub's `label` of each label of an issue. */
export function renderLabels(sandbox: Sandbox, repo: RepoRecord, issue: IssueRecord) {
  const known = sandbox.state.list('label', repo.id);
  return issue.labels.flatMap((name) => {
    const label = known.find((candidate) => candidate.name === name);
    return label ? [renderLabel(sandbox, repo, label)] : [];
  });
}
