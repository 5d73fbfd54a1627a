import { Router } from 'express';
import { z } from 'zod';
import { allows, requireRole } from '../access/roles.ts';
import type { Viewer } from '../apps/auth.ts';
import { grants } from '../apps/grants.ts';
import { readBody, viewerOf } from '../http/request.ts';
import { announce, isPull, saveIssue } from '../issues/changes.ts';
import { nodeId } from '../render/basics.ts';
import { GLOBAL, type Permission, type PullIssue, type RepoRecord, type Sandbox } from '../state/model.ts';
import { change, findKnownRepo } from '../state/sandbox.ts';

const Query = z.object({ query: z.string(), variables: z.record(z.string(), z.unknown()) });
const ById = z.object({ id: z.string() });
const OfIssue = z.object({ owner: z.string(), name: z.string(), number: z.int() });
const MUTATIONS = { convertPullRequestToDraft: true, markPullRequestReadyForReview: false };

/** Only what the REST API has no counterpart for: two mutations, and the last edit of an issue's body. */
export function graphqlRoutes(sandbox: Sandbox): Router {
  const router = Router();
  router.post('/graphql', (req, res) => {
    const viewer: Viewer = viewerOf(res);
    const { login } = viewer;
    const { query, variables } = readBody(Query, req, 'Query');
    if (query.includes('lastEditedAt')) {
      res.json({ data: { repository: bodyEdit(sandbox, viewer, OfIssue.parse(variables)) } });
      return;
    }
    const mutation = Object.entries(MUTATIONS).find(([name]) => query.includes(name));
    if (!mutation) {
      res.json({
        errors: [{ type: 'NOT_SUPPORTED', message: `known mutations: ${Object.keys(MUTATIONS).join(', ')}` }],
      });
      return;
    }
    const { id } = ById.parse(variables);
    const found = findPull(sandbox, id);
    if (!found) {
      const message = `Could not resolve to a node with the global id of '${id}'`;
      res.json({ data: null, errors: [{ type: 'NOT_FOUND', message }] });
      return;
    }
    const [repo, issue] = found;
    if (!mayUse(viewer, repo, 'pull_requests', 'write')) {
      res.json({ data: null, errors: [{ type: 'FORBIDDEN', message: 'Resource not accessible by integration' }] });
      return;
    }
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

/** Whether the grant of an app allows it; people are limited by their role alone. */
const mayUse = ({ grant }: Viewer, repo: RepoRecord, right: Permission, level: 'read' | 'write'): boolean =>
  !grant || grants(grant, repo, right, level);

function bodyEdit(sandbox: Sandbox, viewer: Viewer, { owner, name, number }: z.output<typeof OfIssue>) {
  const { state } = sandbox;
  const repo = findKnownRepo(sandbox, owner, name);
  if (!repo || !allows(repo, viewer.login, 'read') || !mayUse(viewer, repo, 'issues', 'read')) return null;
  const issue = state.get('issue', repo.id, number);
  if (!issue || isPull(issue)) return { databaseId: repo.id, issue: null };
  const { bodyEdit: edit } = issue;
  const shown = { lastEditedAt: edit?.at ?? null, editor: edit ? { login: edit.editor } : null };
  return { databaseId: repo.id, issue: shown };
}

function findPull({ state }: Sandbox, id: string): [RepoRecord, PullIssue] | null {
  for (const repo of state.list('repo', GLOBAL)) {
    const found = state.list('issue', repo.id).find((issue) => nodeId('PullRequest', issue.id) === id);
    if (found && isPull(found)) return [repo, found];
  }
  return null;
}
