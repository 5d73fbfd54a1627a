import { roleOf } from '../access/roles.ts';
import { type Verdict, verdictOf, verdictsOf } from '../checks/verdicts.ts';
import { branchRef } from '../git/git.ts';
import { mergeTree } from '../git/merge.ts';
import type { MergeMethod, PullIssue, RepoRecord, Sandbox } from '../state/model.ts';
import { verdictsOfPeople } from './reviews.ts';
import { type BranchRules, rulesOf } from './rules.ts';

/** Why the host does not merge, in its own words; each is answered with 405. */
export interface Obstacle {
  kind: 'checks' | 'behind' | 'reviews' | 'queue';
  words: string;
}

/**
 * Lists the rules of the base branch that prevent a merge, in the order in which the host names them. Costs one git
 * process.
 */
export async function obstaclesOf(
  sandbox: Sandbox,
  repo: RepoRecord,
  issue: PullIssue,
  { login, fromQueue = false }: { login: string; fromQueue?: boolean },
): Promise<Obstacle[]> {
  const { pull } = issue;
  const rules = rulesOf(sandbox, repo, pull.baseRef, roleOf(repo, login) === 'admin');
  const isBehind = !fromQueue && rules.strict && rules.checks.length > 0 && (await behind(sandbox, repo, issue));
  return [
    ...(rules.queue && !fromQueue
      ? [{ kind: 'queue' as const, words: 'Changes must be made through the merge queue' }]
      : []),
    ...reviewObstacles(sandbox, repo, issue, rules),
    // The host then waits for the checks of a head that does not exist yet, however green those of this one are.
    ...(isBehind
      ? [{ kind: 'behind' as const, words: expected(rules.checks.map(({ context }) => context)) }]
      : checkObstacles(sandbox, repo, issue, rules)),
  ];
}

/** Returns whether the base has commits that the head does not contain. */
export async function behind({ git }: Sandbox, repo: RepoRecord, { pull }: PullIssue): Promise<boolean> {
  const dir = git.dir(repo);
  const base = await git.resolve(dir, branchRef(pull.baseRef));
  return base !== null && !(await git.contains(dir, pull.headSha, base));
}

function reviewObstacles(sandbox: Sandbox, repo: RepoRecord, issue: PullIssue, rules: BranchRules): Obstacle[] {
  if (!rules.pullRequest && rules.approvals === 0) return [];
  const verdicts = verdictsOfPeople(sandbox, repo, issue);
  const missing = rules.approvals - verdicts.filter(({ state }) => state === 'APPROVED').length;
  const against = verdicts.filter(({ state }) => state === 'CHANGES_REQUESTED').length;
  const words = [
    ...(missing > 0
      ? [
          `At least ${missing} approving review${missing === 1 ? ' is' : 's are'} required by reviewers with write access.`,
        ]
      : []),
    ...(against > 0
      ? [`${against} review${against === 1 ? '' : 's'} requesting changes by reviewers with write access.`]
      : []),
  ];
  return words.map((each) => ({ kind: 'reviews', words: each }));
}

function checkObstacles(sandbox: Sandbox, repo: RepoRecord, issue: PullIssue, { checks }: BranchRules): Obstacle[] {
  const sha = issue.pull.headSha;
  const verdicts = new Map(checks.map((check) => [check.context, verdictOf(sandbox, repo, sha, check)]));
  const open = [...verdicts.keys()].filter((name) => verdicts.get(name) !== 'success');
  if (open.length === 0) return [];
  const missing = open.filter((name) => verdicts.get(name) === undefined);
  if (missing.length === open.length) return [{ kind: 'checks', words: expected(open, checks.length) }];
  const [only] = open;
  if (open.length === 1 && only !== undefined) {
    const words = `Required status check "${only}" is ${WORDS[verdicts.get(only) ?? 'pending']}.`;
    return [{ kind: 'checks', words }];
  }
  const count = (verdict: Verdict) => open.filter((name) => verdicts.get(name) === verdict).length;
  const parts = [
    [missing.length, 'expected'],
    [count('pending'), 'pending'],
    [count('failure'), 'failing'],
  ] as const;
  const counts = parts.flatMap(([number, word]) => (number > 0 ? [`${number} ${word}`] : [])).join(' and ');
  return [
    {
      kind: 'checks',
      words: `${open.length} of ${checks.length} required status checks have not succeeded: ${counts}.`,
    },
  ];
}

const WORDS: Record<Verdict, string> = { pending: 'pending', failure: 'failing', success: 'successful' };

const expected = (names: readonly string[], all = names.length): string =>
  names.length === 1 && all === 1
    ? `Required status check "${names[0]}" is expected.`
    : `${names.length} of ${all} required status checks are expected.`;

/** The ways of merging that the repository and the rules of its branch allow. */
export function methodsOf(sandbox: Sandbox, repo: RepoRecord, branch: string): MergeMethod[] {
  const { methods, linear } = rulesOf(sandbox, repo, branch);
  return (repo.mergeMethods ?? ALL).filter(
    (method) => (methods ?? ALL).includes(method) && !(linear && method === 'merge'),
  );
}

const ALL: readonly MergeMethod[] = ['merge', 'squash', 'rebase'];

type Mergeable = { mergeable: boolean | null; mergeable_state: string };

/** `mergeable` and `mergeable_state` of an open pull request; costs up to three git processes. */
export async function mergeability(sandbox: Sandbox, repo: RepoRecord, issue: PullIssue): Promise<Mergeable> {
  const { pull } = issue;
  if (issue.state === 'closed') return { mergeable: null, mergeable_state: 'unknown' };
  const tree = await mergeTree(sandbox.git, sandbox.git.dir(repo), pull.baseSha, pull.headSha);
  if (tree === null) return { mergeable: false, mergeable_state: 'dirty' };
  if (pull.draft) return { mergeable: true, mergeable_state: 'draft' };
  const found = await obstaclesOf(sandbox, repo, issue, { login: '' });
  if (found.some(({ kind }) => kind !== 'behind')) return { mergeable: true, mergeable_state: 'blocked' };
  if (found.length > 0) return { mergeable: true, mergeable_state: 'behind' };
  const verdicts = [...verdictsOf(sandbox, repo, pull.headSha).values()];
  return { mergeable: true, mergeable_state: verdicts.every((each) => each === 'success') ? 'clean' : 'unstable' };
}
