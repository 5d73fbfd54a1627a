import { Router } from 'express';
import { z } from 'zod';
import { announce, change, isPull, saveIssue } from '../changes.ts';
import type { Sandbox } from '../context.ts';
import type { PullIssue, RepoRecord } from '../model.ts';
import { nodeId } from '../render-user.ts';
import { readBody, viewerOf } from '../request.ts';
import { requireRole } from '../roles.ts';
import { GLOBAL } from '../state.ts';

const Query = z.object({ query: z.string(), variables: z.object({ id: z.string() }) });
const MUTATIONS = { convertPullRequestToDraft: true, markPullRequestReadyForReview: false };

/** Only the two mutations that the REST API has no counterpart for. */
export function graphqlRoutes(sandbox: Sandbox): Router {
  const router = Router();
  router.post('/graphql', (req, res) => {
    const { login } = viewerOf(res);
    const { query, variables } = readBody(Query, req, 'Query');
    const mutation = Object.entries(MUTATIONS).find(([name]) => query.includes(name));
    if (!mutation) {
      res.json({
        errors: [{ type: 'NOT_SUPPORTED', message: `known mutations: ${Object.keys(MUTATIONS).join(', ')}` }],
      });
      return;
    }
    const found = findPull(sandbox, variables.id);
    if (!found) {
      const message = `Could not resolve to a node with the global id of '${variables.id}'`;
      res.json({ data: null, errors: [{ type: 'NOT_FOUND', message }] });
      return;
    }
    const [repo, issue] = found;
    requireRole(repo, login, 'write');
    const [name, draft] = mutation;
    change(sandbox, () => {
      const saved = saveIssue(sandbox, repo, { ...issue, pull: { ...issue.pull, draft } });
      announce(sandbox, repo, saved, { action: draft ? 'converted_to_draft' : 'ready_for_review', by: login });
    });
    res.json({ data: { [name]: { pullRequest: { isDraft: draft } } } });
  });
  return router;
}

function findPull({ state }: Sandbox, id: string): [RepoRecord, PullIssue] | null {
  for (const repo of state.list('repo', GLOBAL)) {
    const found = state.list('issue', repo.id).find((issue) => nodeId('PullRequest', issue.id) === id);
    if (found && isPull(found)) return [repo, found];
  }
  return null;
}
