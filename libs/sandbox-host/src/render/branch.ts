import { isProtected } from '../access/protection.ts';
import type { Sandbox } from '../state/context.ts';
import type { RepoRecord } from '../state/model.ts';
import { apiUrl, htmlUrl } from './repo.ts';
import { nodeId } from './user.ts';

interface Branch {
  name: string;
  sha: string;
}

const protectionUrl = (sandbox: Sandbox, repo: RepoRecord, branch: string): string =>
  `${apiUrl(sandbox, repo)}/branches/${encodeURIComponent(branch)}/protection`;

/** GitHub's `branch-with-protection`; of the commit only what links to it. */
export function renderBranch(sandbox: Sandbox, repo: RepoRecord, { name, sha }: Branch) {
  const url = apiUrl(sandbox, repo);
  const enabled = isProtected(repo, name);
  const person = { name: repo.owner, email: `${repo.owner}@localhost`, date: repo.pushedAt };
  return {
    name,
    commit: {
      sha,
      node_id: nodeId('Commit', repo.id),
      url: `${url}/commits/${sha}`,
      html_url: `${htmlUrl(sandbox, repo)}/commit/${sha}`,
      comments_url: `${url}/commits/${sha}/comments`,
      commit: {
        author: person,
        committer: person,
        message: '',
        comment_count: 0,
        tree: { sha, url: `${url}/git/trees/${sha}` },
        url: `${url}/git/commits/${sha}`,
      },
      author: null,
      committer: null,
      parents: [],
    },
    _links: { self: `${url}/branches/${name}`, html: `${htmlUrl(sandbox, repo)}/tree/${name}` },
    protected: enabled,
    protection: { enabled },
    protection_url: protectionUrl(sandbox, repo, name),
  };
}

/** GitHub's `branch-protection`, as far as the sandbox holds to it. */
export function renderProtection(sandbox: Sandbox, repo: RepoRecord) {
  const url = protectionUrl(sandbox, repo, repo.defaultBranch);
  return {
    url,
    required_pull_request_reviews: {
      url: `${url}/required_pull_request_reviews`,
      dismiss_stale_reviews: false,
      require_code_owner_reviews: false,
      required_approving_review_count: repo.requiredApprovals,
    },
    enforce_admins: { url: `${url}/enforce_admins`, enabled: true },
  };
}

/** GitHub's `repository-rule-detailed` of a ruleset that asks for pull requests. */
export const renderRules = (repo: RepoRecord) => [
  {
    type: 'pull_request',
    ruleset_source_type: 'Repository',
    ruleset_source: `${repo.owner}/${repo.name}`,
    ruleset_id: repo.id,
    parameters: {
      dismiss_stale_reviews_on_push: false,
      require_code_owner_review: false,
      require_last_push_approval: false,
      required_approving_review_count: repo.requiredApprovals,
      required_review_thread_resolution: false,
    },
  },
];
