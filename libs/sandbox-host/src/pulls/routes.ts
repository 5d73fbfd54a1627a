import { type Request, Router } from 'express';
import { z } from 'zod';
import { requireRole } from '../access/roles.ts';
import { fetchBranch } from '../git/fetch-branch.ts';
import { branchRef } from '../git/git.ts';
import { invalid } from '../http/failure.ts';
import { numberParam, paginate, queryValue, readBody, repoOf, viewerOf } from '../http/request.ts';
import { addIssue, announce, isPull, pullOf, saveIssue } from '../issues/changes.ts';
import { applyEdit, requireEditor, sortIssues } from '../issues/routes.ts';
import { mergeability } from '../protection/gate.ts';
import { headLabel, renderUser } from '../render/basics.ts';
import { renderPull } from '../render/pull.ts';
import type { PullIssue, PullRecord, RepoRecord, Sandbox } from '../state/model.ts';
import { change, forksOf } from '../state/sandbox.ts';
import { changedFiles } from './files.ts';

/** Heads and bases that were requested, by sandbox. */
const asked = new WeakMap<Sandbox, Set<string>>();

const NewPull = z.object({
  title: z.string().min(1),
  head: z.string().min(1),
  base: z.string().min(1),
  body: z.string().max(65_536).nullish(),
  draft: z.boolean().default(false),
  maintainer_can_modify: z.boolean().optional(),
});
const EditPull = z.object({
  title: z.string().min(1).optional(),
  body: z.string().max(65_536).nullish(),
  state: z.enum(['open', 'closed']).optional(),
  base: z.string().min(1).optional(),
});

/** Pull requests: create, list, read, edit, files, requested reviewers. */
export function pullRoutes(sandbox: Sandbox): Router {
  const router = Router({ mergeParams: true });
  const { git } = sandbox;

  router.post('/pulls', async (req, res) => {
    const [repo, { login }] = [repoOf(res), viewerOf(res)];
    const fresh = readBody(NewPull, req, 'PullRequest');
    // From a fork a pull request takes the right to read, and to write to the fork.
    requireRole(repo, login, 'read');
    const from = repoOfHead(sandbox, repo, fresh.head);
    requireRole(from, login, 'write');
    const issue = await sandbox.lock(repo.id, async () => {
      const pull = await preparePull(sandbox, { repo, from }, fresh);
      const created = change(sandbox, () => {
        const common = { title: fresh.title, body: fresh.body ?? null, labels: [], assignees: [], author: login };
        const record = addIssue(sandbox, repo, { ...common, pull });
        announce(sandbox, repo, record, { action: 'opened', by: login });
        return record;
      });
      sandbox.ci.consider(repo);
      await git.run(git.dir(repo), ['update-ref', `refs/pull/${created.number}/head`, pull.headSha]);
      return created;
    });
    res.status(201).json(await renderFullPull(sandbox, repo, issue));
  });

  router.get('/pulls', (req, res) => {
    const repo = repoOf(res);
    const found = paginate(sandbox, req, res, select(sandbox, repo, req));
    res.json(found.map((issue) => renderPull(sandbox, repo, issue)));
  });

  router.get('/pulls/:number', async (req, res) => {
    const repo = repoOf(res);
    res.json(await renderFullPull(sandbox, repo, pullOf(sandbox, repo, numberParam(req, 'number'))));
  });

  router.patch('/pulls/:number', async (req, res) => {
    const [repo, by] = [repoOf(res), viewerOf(res)];
    const { base, ...edit } = readBody(EditPull, req, 'PullRequest');
    const baseSha = base === undefined ? null : await git.resolve(git.dir(repo), branchRef(base));
    if (base !== undefined && baseSha === null) throw invalid('PullRequest', 'base');
    const issue = pullOf(sandbox, repo, numberParam(req, 'number'));
    requireEditor(repo, issue, by);
    const saved = change(sandbox, () => {
      const edited = applyEdit(sandbox, repo, issue, { edit, by }) as PullIssue;
      if (base === undefined || baseSha === null) return edited;
      return saveIssue(sandbox, repo, { ...edited, pull: { ...edited.pull, baseRef: base, baseSha } });
    });
    res.json(await renderFullPull(sandbox, repo, saved));
  });

  router.get('/pulls/:number/files', async (req, res) => {
    const repo = repoOf(res);
    const files = await changedFiles(sandbox, repo, pullOf(sandbox, repo, numberParam(req, 'number')));
    res.json(paginate(sandbox, req, res, files));
  });

  router.post('/pulls/:number/requested_reviewers', (req, res) => {
    const [repo, by] = [repoOf(res), viewerOf(res).login];
    requireRole(repo, by, 'triage');
    const { reviewers } = readBody(z.object({ reviewers: z.array(z.string()).default([]) }), req, 'PullRequest');
    const issue = pullOf(sandbox, repo, numberParam(req, 'number'));
    const named = reviewers.map((login) => {
      const user = sandbox.state.findUser(login);
      if (!user) throw invalid('PullRequest', 'reviewers', `Could not resolve to a node with the login '${login}'`);
      if (user.login === issue.author) {
        throw invalid('PullRequest', 'reviewers', 'Review cannot be requested from pull request author.');
      }
      return user.login;
    });
    const requestedReviewers = [...new Set([...issue.pull.requestedReviewers, ...named])];
    const saved = change(sandbox, () => {
      const pull = saveIssue(sandbox, repo, { ...issue, pull: { ...issue.pull, requestedReviewers } });
      announce(sandbox, repo, pull, { action: 'review_requested', by });
      return pull;
    });
    res.status(201).json(renderPull(sandbox, repo, saved));
  });
  return router;
}

/** The repository that `owner:branch` lives in: this one, or the fork of that owner. @throws Failure 422 without one. */
function repoOfHead(sandbox: Sandbox, repo: RepoRecord, head: string): RepoRecord {
  const owner = head.includes(':') ? head.slice(0, head.indexOf(':')).toLowerCase() : repo.owner.toLowerCase();
  const found = [repo, ...forksOf(sandbox, repo)].find((one) => one.owner.toLowerCase() === owner);
  if (!found) throw invalid('PullRequest', 'head');
  return found;
}

interface Ends {
  repo: RepoRecord;
  /** Repository of the head branch. */
  from: RepoRecord;
}

/** @throws Failure 422 for a missing branch, an open pull request of the same branches, or a branch without a commit of its own. */
async function preparePull(
  sandbox: Sandbox,
  { repo, from }: Ends,
  fresh: z.output<typeof NewPull>,
): Promise<PullRecord> {
  const { git } = sandbox;
  const dir = git.dir(repo);
  const headRef = fresh.head.slice(fresh.head.indexOf(':') + 1);
  const [headSha, baseSha] = await Promise.all([
    git.resolve(git.dir(from), branchRef(headRef)),
    git.resolve(dir, branchRef(fresh.base)),
  ]);
  if (headSha === null) throw invalid('PullRequest', 'head');
  if (baseSha === null) throw invalid('PullRequest', 'base');
  const isTwin = ({ headRef: ref, baseRef, headRepoId = repo.id }: PullRecord) =>
    ref === headRef && baseRef === fresh.base && headRepoId === from.id;
  const duplicate = sandbox.state
    .list('issue', repo.id)
    .some((issue) => issue.state === 'open' && isPull(issue) && isTwin(issue.pull));
  if (duplicate) throw invalid('PullRequest', 'base', `A pull request already exists for ${from.owner}:${headRef}.`);
  await fetchBranch(sandbox, repo, from, headRef);
  if (await git.contains(dir, baseSha, headSha)) {
    throw invalid('PullRequest', 'base', `No commits between ${fresh.base} and ${headRef}`);
  }
  const unmerged = { mergedAt: null, mergedBy: null, mergeSha: null, merging: null, requestedReviewers: [] };
  const head = { headRepoId: from.id, headOwner: from.owner, headRef, headSha };
  return { ...head, baseRef: fresh.base, baseSha, draft: fresh.draft, ...unmerged };
}

function select(sandbox: Sandbox, repo: RepoRecord, req: Request): PullIssue[] {
  const state = queryValue(req, 'state') ?? 'open';
  const head = queryValue(req, 'head');
  const base = queryValue(req, 'base');
  const found = sandbox.state
    .list('issue', repo.id)
    .filter(isPull)
    .filter(({ pull, ...issue }) => {
      const label = headLabel(repo, pull).toLowerCase();
      return (
        (state === 'all' || issue.state === state) &&
        (head === undefined || head.toLowerCase() === label) &&
        (base === undefined || base === pull.baseRef)
      );
    });
  return sortIssues(found, queryValue(req, 'sort') ?? 'created', queryValue(req, 'direction') ?? 'desc');
}

/** GitHub's `pull-request`: with values that only git has. Costs four git processes. */
async function renderFullPull(sandbox: Sandbox, repo: RepoRecord, issue: PullIssue) {
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
