import { Router } from 'express';
import { z } from 'zod';
import { requireRole } from '../access/roles.ts';
import { branchRef } from '../git/git.ts';
import { Failure, invalid, notFound } from '../http/failure.ts';
import { numberParam, paginate, readBody, repoOf, viewerOf } from '../http/request.ts';
import { announceReview, pullOf, saveIssue } from '../issues/changes.ts';
import { renderReview } from '../render/pull.ts';
import type { PullIssue, RepoRecord, ReviewRecord, Sandbox } from '../state/model.ts';
import { change, timestamp } from '../state/sandbox.ts';

/** Lines of one file that are part of a diff: those of the new file on the right, those of the old one on the left. */
interface DiffLines {
  RIGHT: Set<number>;
  LEFT: Set<number>;
}

const NewReview = z.object({
  event: z.enum(['APPROVE', 'REQUEST_CHANGES', 'COMMENT']),
  body: z.string().max(65_536).default(''),
  commit_id: z.string().optional(),
  comments: z
    .array(
      z.object({
        path: z.string(),
        line: z.int().positive(),
        body: z.string().min(1),
        side: z.enum(['LEFT', 'RIGHT']).default('RIGHT'),
      }),
    )
    .default([]),
});
const STATE = { APPROVE: 'APPROVED', REQUEST_CHANGES: 'CHANGES_REQUESTED', COMMENT: 'COMMENTED' } as const;

/** Reviews of a pull request; authors cannot approve or block their own. */
export function reviewRoutes(sandbox: Sandbox): Router {
  const router = Router({ mergeParams: true });

  router.get('/pulls/:number/reviews', (req, res) => {
    const repo = repoOf(res);
    const { number } = pullOf(sandbox, repo, numberParam(req, 'number'));
    const reviews = paginate(sandbox, req, res, sandbox.state.list('review', repo.id, number));
    res.json(reviews.map((review) => renderReview(sandbox, repo, review)));
  });

  router.post('/pulls/:number/reviews', async (req, res) => {
    const [repo, { login: author }] = [repoOf(res), viewerOf(res)];
    requireRole(repo, author, 'read');
    const { event, body, comments, commit_id } = readBody(NewReview, req, 'PullRequestReview');
    const number = numberParam(req, 'number');
    if (comments.length > 0) await requireInDiff(sandbox, repo, pullOf(sandbox, repo, number), comments);
    const issue = pullOf(sandbox, repo, number);
    if (event !== 'COMMENT' && author === issue.author) {
      const what = event === 'APPROVE' ? 'approve' : 'request changes on';
      throw new Failure(422, `Unprocessable Entity: Can not ${what} your own pull request`);
    }
    if (event !== 'APPROVE' && body === '' && comments.length === 0) throw invalid('PullRequestReview', 'body');
    const review: ReviewRecord = change(sandbox, () => {
      const record = {
        id: sandbox.state.nextId(),
        pullNumber: number,
        author,
        state: STATE[event],
        body,
        comments: comments.map(({ path, line, body: text }) => ({ path, line, body: text })),
        commitSha: commit_id ?? issue.pull.headSha,
        submittedAt: timestamp(sandbox),
      };
      sandbox.state.put('review', repo.id, record, { parent: number });
      const requestedReviewers = issue.pull.requestedReviewers.filter((login) => login !== author);
      const saved = saveIssue(sandbox, repo, { ...issue, pull: { ...issue.pull, requestedReviewers } });
      announceReview(sandbox, repo, saved, { action: 'submitted', review: record, by: author });
      return record;
    });
    sandbox.queue.consider(repo);
    res.json(renderReview(sandbox, repo, review));
  });

  router.put('/pulls/:number/reviews/:id/dismissals', (req, res) => {
    const [repo, { login: by }] = [repoOf(res), viewerOf(res)];
    requireRole(repo, by, 'write');
    readBody(z.object({ message: z.string().min(1) }), req, 'PullRequestReview');
    const issue = pullOf(sandbox, repo, numberParam(req, 'number'));
    const found = sandbox.state.get('review', repo.id, numberParam(req, 'id'));
    if (found?.pullNumber !== issue.number) throw notFound();
    if (found.state === 'COMMENTED') throw new Failure(422, 'Can not dismiss a commented pull request review');
    const dismissed = { ...found, state: 'DISMISSED' as const };
    change(sandbox, () => {
      sandbox.state.put('review', repo.id, dismissed, { parent: issue.number });
      const saved = saveIssue(sandbox, repo, issue);
      announceReview(sandbox, repo, saved, { action: 'dismissed', review: dismissed, by });
    });
    res.json(renderReview(sandbox, repo, dismissed));
  });
  return router;
}

/** A comment stands on a line of the diff. @throws Failure 422 in the host's words. */
async function requireInDiff(
  sandbox: Sandbox,
  repo: RepoRecord,
  issue: PullIssue,
  comments: z.output<typeof NewReview>['comments'],
): Promise<void> {
  const files = await diffLines(sandbox, repo, issue);
  const faults = comments.flatMap(({ path, line, side }) => {
    const lines = files.get(path);
    if (!lines) return ['Path could not be resolved'];
    return lines[side].has(line) ? [] : ['Line could not be resolved'];
  });
  if (faults.length > 0) throw new Failure(422, 'Unprocessable Entity', [...new Set(faults)]);
}

/** The lines that may carry a review comment, by path. One git process. */
async function diffLines({ git }: Sandbox, repo: RepoRecord, { pull }: PullIssue): Promise<Map<string, DiffLines>> {
  const dir = git.dir(repo);
  const base = (await git.resolve(dir, branchRef(pull.baseRef))) ?? pull.baseSha;
  const plain = ['-c', 'core.quotePath=false', 'diff', '--no-renames', '--no-color', '--no-prefix', '-U3'];
  const diff = await git.run(dir, [...plain, `${base}...${pull.headSha}`]);
  return new Map(`\n${diff}`.split('\ndiff --git ').slice(1).map(linesOfFile));
}

function linesOfFile(text: string): [path: string, lines: DiffLines] {
  // What stands before the first hunk names the file; a line of the file may look the same.
  const [head = '', ...hunks] = text.split('\n@@ ');
  const names = head.split('\n').filter((line) => /^(---|\+\+\+) /.test(line) && !line.endsWith(' /dev/null'));
  const lines: DiffLines = { RIGHT: new Set(), LEFT: new Set() };
  for (const hunk of hunks) addHunk(lines, hunk);
  return [(names.at(-1) ?? '').slice(4), lines];
}

/** @param hunk begins with `-12,3 +14,5 @@`. */
function addHunk(lines: DiffLines, hunk: string): void {
  const [head = '', ...body] = hunk.split('\n');
  const [left = '', right = ''] = head.split(' ');
  let old = Number.parseInt(left.slice(1), 10);
  let fresh = Number.parseInt(right.slice(1), 10);
  for (const line of body) {
    if (line.startsWith('\\')) continue;
    if (!line.startsWith('+')) lines.LEFT.add(old++);
    if (!line.startsWith('-')) lines.RIGHT.add(fresh++);
  }
}
