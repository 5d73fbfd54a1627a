import { withoutTrailing } from '@pipeline/domain';
import type {
  MergeMethod,
  ProtectionRecord,
  PushRule,
  RepoRecord,
  RequiredCheck,
  RulesetRecord,
  Sandbox,
} from '../state/model.ts';

/** All that protects a branch: classic protection and active rulesets together, the stricter of each. */
export interface BranchRules {
  /** Contexts that must be green. */
  checks: RequiredCheck[];
  /** The branch must contain the base; without a required check it has no effect, as on the real host. */
  strict: boolean;
  approvals: number;
  dismissStale: boolean;
  pullRequest: boolean;
  linear: boolean;
  /** Logins that may push; null = every user with write access. */
  pushers: string[] | null;
  forcePushes: boolean;
  deletions: boolean;
  /** Ways of merging; null = those of the repository. */
  methods: MergeMethod[] | null;
  /** Pull requests are merged by the queue alone. */
  queue: boolean;
  /** True = a ruleset requires any of it; the host then words a refusal differently. */
  byRuleset: boolean;
}

const FREE: BranchRules = {
  checks: [],
  strict: false,
  approvals: 0,
  dismissStale: false,
  pullRequest: false,
  linear: false,
  pushers: null,
  forcePushes: true,
  deletions: true,
  methods: null,
  queue: false,
  byRuleset: false,
};

/**
 * Classic protection of a branch; the setting `requiredApprovals` of a repository stands for one of its default branch.
 */
export function protectionOf({ state }: Sandbox, repo: RepoRecord, branch: string): ProtectionRecord | undefined {
  const found = state.list('protection', repo.id).find((each) => each.branch === branch);
  if (found || repo.requiredApprovals === 0 || branch !== repo.defaultBranch) return found;
  return {
    id: 0,
    branch,
    checks: null,
    strict: false,
    reviews: { count: repo.requiredApprovals, dismissStale: false },
    linear: false,
    pushers: null,
    forcePushes: false,
    deletions: false,
    enforceAdmins: true,
  };
}

export const isProtected = (sandbox: Sandbox, repo: RepoRecord, branch: string): boolean =>
  protectionOf(sandbox, repo, branch) !== undefined || rulesetsOf(sandbox, repo, branch).length > 0;

/** Active rulesets that name the branch. */
export const rulesetsOf = ({ state }: Sandbox, repo: RepoRecord, branch: string): RulesetRecord[] =>
  state
    .list('ruleset', repo.id)
    .filter(({ enforcement }) => enforcement === 'active')
    .filter(({ include, exclude }) => {
      const named = (pattern: string) => names(pattern, repo, branch);
      return include.some(named) && !exclude.some(named);
    });

/** `~ALL`, `~DEFAULT_BRANCH`, or a ref in which one `*` at the end stands for anything. */
function names(pattern: string, repo: RepoRecord, branch: string): boolean {
  if (pattern === '~ALL') return true;
  if (pattern === '~DEFAULT_BRANCH') return branch === repo.defaultBranch;
  const ref = `refs/heads/${branch}`;
  return pattern.endsWith('*') ? ref.startsWith(withoutTrailing(pattern, '*')) : ref === pattern;
}

/** The rules that hold for a user on a branch. Administrators pass classic protection unless it includes them. */
export function rulesOf(sandbox: Sandbox, repo: RepoRecord, branch: string, isAdmin = false): BranchRules {
  const classic = protectionOf(sandbox, repo, branch);
  const from = classic && (classic.enforceAdmins || !isAdmin) ? [ofProtection(classic)] : [];
  return [...from, ...rulesetsOf(sandbox, repo, branch).flatMap(({ rules }) => rules.map(ofRule))].reduce(both, FREE);
}

const ofProtection = (record: ProtectionRecord): BranchRules => ({
  ...FREE,
  checks: record.checks ?? [],
  strict: record.strict,
  approvals: record.reviews?.count ?? 0,
  dismissStale: record.reviews?.dismissStale ?? false,
  pullRequest: record.reviews !== null,
  linear: record.linear,
  pushers: record.pushers,
  forcePushes: record.forcePushes,
  deletions: record.deletions,
});

function ofRule({ type, parameters = {} }: RulesetRecord['rules'][number]): BranchRules {
  const rules = { ...FREE, byRuleset: true };
  switch (type) {
    case 'required_status_checks': {
      const checks = parameters.required_status_checks as { context: string; integration_id?: number | null }[];
      const strict = parameters.strict_required_status_checks_policy === true;
      return {
        ...rules,
        checks: checks.map(({ context, integration_id: appId = null }) => ({ context, appId })),
        strict,
      };
    }
    case 'pull_request':
      return {
        ...rules,
        pullRequest: true,
        approvals: Number(parameters.required_approving_review_count ?? 0),
        dismissStale: parameters.dismiss_stale_reviews_on_push === true,
        methods: (parameters.allowed_merge_methods as MergeMethod[] | undefined) ?? null,
      };
    case 'required_linear_history':
      return { ...rules, linear: true };
    case 'non_fast_forward':
      return { ...rules, forcePushes: false };
    case 'deletion':
      return { ...rules, deletions: false };
    case 'update':
      return { ...rules, pushers: [] };
    case 'merge_queue':
      return { ...rules, queue: true };
    default:
      return rules;
  }
}

const both = (a: BranchRules, b: BranchRules): BranchRules => ({
  checks: distinct([...a.checks, ...b.checks]),
  strict: a.strict || b.strict,
  approvals: Math.max(a.approvals, b.approvals),
  dismissStale: a.dismissStale || b.dismissStale,
  pullRequest: a.pullRequest || b.pullRequest,
  linear: a.linear || b.linear,
  pushers: common(a.pushers, b.pushers),
  forcePushes: a.forcePushes && b.forcePushes,
  deletions: a.deletions && b.deletions,
  methods: common(a.methods, b.methods),
  queue: a.queue || b.queue,
  byRuleset: a.byRuleset || b.byRuleset,
});

/** One check for each context: the one that names an app is stricter. */
const distinct = (checks: readonly RequiredCheck[]): RequiredCheck[] => [
  ...new Map(
    checks
      .toSorted((a, b) => Number(a.appId !== null) - Number(b.appId !== null))
      .map((check) => [check.context, check]),
  ).values(),
];

const common = <T>(a: T[] | null, b: T[] | null): T[] | null =>
  a && b ? a.filter((each) => b.includes(each)) : (a ?? b);

/** Returns the refusals of a user's push for each protected branch. `branches` are those that exist. */
export function pushRulesOf(
  sandbox: Sandbox,
  repo: RepoRecord,
  { branches, login, isAdmin }: { branches: readonly string[]; login: string; isAdmin: boolean },
): PushRule[] {
  return branches.flatMap((branch) => {
    const rules = rulesOf(sandbox, repo, branch, isAdmin);
    const [check] = rules.checks;
    const refused: [boolean, PushRule['kind'], string][] = [
      [rules.queue, 'push', 'Changes must be made through the merge queue'],
      [rules.pullRequest, 'push', 'Changes must be made through a pull request.'],
      [check !== undefined, 'push', `Required status check "${check?.context}" is expected.`],
      [
        rules.pushers !== null && !rules.pushers.some((name) => name.toLowerCase() === login.toLowerCase()),
        'push',
        "You're not authorized to push to this branch.",
      ],
      [!rules.forcePushes, 'force', 'Cannot force-push to this branch'],
      [rules.linear, 'linear', 'This branch must not contain merge commits.'],
      [!rules.deletions, 'delete', 'Cannot delete this branch'],
    ];
    return refused.flatMap(([holds, kind, words]) => (holds ? [{ branch, kind, words }] : []));
  });
}
