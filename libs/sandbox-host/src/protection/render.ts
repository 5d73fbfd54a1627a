import { apiUrl, htmlUrl, nodeId, renderUser } from '../render/basics.ts';
import type { ProtectionRecord, RepoRecord, RequiredCheck, RulesetRecord, Sandbox } from '../state/model.ts';
import { rulesetsOf } from './rules.ts';

interface Branch {
  name: string;
  sha: string;
  isProtected: boolean;
  /** Contexts that classic protection requires. */
  checks: RequiredCheck[];
}

const protectionUrl = (sandbox: Sandbox, repo: RepoRecord, branch: string): string =>
  `${apiUrl(sandbox, repo)}/branches/${encodeURIComponent(branch)}/protection`;

/** GitHub's `branch-with-protection`; of the commit only what links to it. */
export function renderBranch(sandbox: Sandbox, repo: RepoRecord, { name, sha, isProtected: enabled, checks }: Branch) {
  const url = apiUrl(sandbox, repo);
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
    protection: {
      enabled,
      required_status_checks: {
        enforcement_level: enabled && checks.length > 0 ? 'everyone' : 'off',
        contexts: checks.map(({ context }) => context),
        checks: checks.map(({ context, appId }) => ({ context, app_id: appId })),
      },
    },
    protection_url: protectionUrl(sandbox, repo, name),
  };
}

/** GitHub's `branch-protection`, as far as the sandbox holds to it. */
export function renderProtection(sandbox: Sandbox, repo: RepoRecord, record: ProtectionRecord) {
  const url = protectionUrl(sandbox, repo, record.branch);
  const { checks, reviews, pushers } = record;
  return {
    url,
    ...(checks && {
      required_status_checks: {
        url: `${url}/required_status_checks`,
        strict: record.strict,
        contexts: checks.map(({ context }) => context),
        contexts_url: `${url}/required_status_checks/contexts`,
        checks: checks.map(({ context, appId }) => ({ context, app_id: appId })),
      },
    }),
    ...(reviews && {
      required_pull_request_reviews: {
        url: `${url}/required_pull_request_reviews`,
        dismiss_stale_reviews: reviews.dismissStale,
        require_code_owner_reviews: false,
        required_approving_review_count: reviews.count,
      },
    }),
    ...(pushers && {
      restrictions: {
        url: `${url}/restrictions`,
        users_url: `${url}/restrictions/users`,
        teams_url: `${url}/restrictions/teams`,
        apps_url: `${url}/restrictions/apps`,
        users: pushers.map((login) => renderUser(sandbox, login)),
        teams: [],
        apps: [],
      },
    }),
    enforce_admins: { url: `${url}/enforce_admins`, enabled: record.enforceAdmins },
    required_linear_history: { enabled: record.linear },
    allow_force_pushes: { enabled: record.forcePushes },
    allow_deletions: { enabled: record.deletions },
  };
}

/** GitHub's `repository-rule-detailed` of each rule that holds for a branch. */
export function renderRules(sandbox: Sandbox, repo: RepoRecord, branch: string) {
  const source = { ruleset_source_type: 'Repository', ruleset_source: `${repo.owner}/${repo.name}` };
  const given = rulesetsOf(sandbox, repo, branch).flatMap(({ id, rules }) =>
    rules.map((rule) => ({ ...rule, ...source, ruleset_id: id })),
  );
  const asked = repo.requiredApprovals > 0 && branch === repo.defaultBranch;
  return asked ? [...given, { ...reviewsRule(repo), ...source, ruleset_id: repo.id }] : given;
}

/** The setting `requiredApprovals` of a repository, as a rule. */
const reviewsRule = (repo: RepoRecord) => ({
  type: 'pull_request',
  parameters: {
    dismiss_stale_reviews_on_push: false,
    require_code_owner_review: false,
    require_last_push_approval: false,
    required_approving_review_count: repo.requiredApprovals,
    required_review_thread_resolution: false,
  },
});

/** GitHub's `repository-ruleset`. */
export const renderRuleset = (sandbox: Sandbox, repo: RepoRecord, record: RulesetRecord) => ({
  id: record.id,
  name: record.name,
  target: 'branch',
  source_type: 'Repository',
  source: `${repo.owner}/${repo.name}`,
  enforcement: record.enforcement,
  conditions: { ref_name: { include: record.include, exclude: record.exclude } },
  rules: record.rules,
  node_id: nodeId('RepositoryRuleset', record.id),
  _links: { self: { href: `${apiUrl(sandbox, repo)}/rulesets/${record.id}` } },
  created_at: record.createdAt,
  updated_at: record.createdAt,
});
