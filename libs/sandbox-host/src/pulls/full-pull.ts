import { mergeability } from '../protection/gate.ts';
import { renderUser } from '../render/basics.ts';
import { renderPull } from '../render/pull.ts';
import type { PullIssue, RepoRecord, Sandbox } from '../state/model.ts';

/** GitHub's `pull-request`: with values that only git has. Costs four git processes. */
export async function renderFullPull(sandbox: Sandbox, repo: RepoRecord, issue: PullIssue) {
  const { git } = sandbox;
  const { pull } = issue;
  const dir = git.dir(repo);
  const base = pull.mergedAt ? pull.baseSha : ((await git.resolve(dir, pull.baseRef)) ?? pull.baseSha);
  const [stat, commits] = await Promise.all([
    git.run(dir, ['diff', '--numstat', '--no-renames', `${base}...${pull.headSha}`]),
    git.run(dir, ['rev-list', '--count', `${base}..${pull.headSha}`]),
  ]);
  const lines = stat.split('\n').filter(Boolean);
  const sum = (column: number) => lines.reduce((all, line) => all + (Number(line.split('\t')[column]) || 0), 0);
  const mergeability = await lateMergeability(sandbox, repo, { ...issue, pull: { ...pull, baseSha: base } });
  return {
    ...renderPull(sandbox, repo, issue),
    ...mergeability,
    merged: pull.mergedAt !== null,
    merged_by: pull.mergedBy === null ? null : renderUser(sandbox, pull.mergedBy),
    rebaseable: mergeability.mergeable,
    comments: issue.comments,
    review_comments: sandbox.state.list('review', repo.id, issue.number).flatMap((review) => review.comments).length,
    maintainer_can_modify: false,
    commits: Number(commits),
    additions: sum(0),
    deletions: sum(1),
    changed_files: lines.length,
  };
}

/** Heads and bases that were requested, by sandbox. */
const asked = new WeakMap<Sandbox, Set<string>>();

/**
 * The host computes whether a pull request can be merged after the first request for a head and a base, and answers
 * that request with null.
 */
async function lateMergeability(sandbox: Sandbox, repo: RepoRecord, issue: PullIssue) {
  const known = asked.get(sandbox) ?? new Set();
  asked.set(sandbox, known);
  const key = `${repo.id} ${issue.number} ${issue.pull.headSha} ${issue.pull.baseSha}`;
  if (known.has(key) || issue.state === 'closed') return mergeability(sandbox, repo, issue);
  known.add(key);
  return { mergeable: null, mergeable_state: 'unknown' };
}
