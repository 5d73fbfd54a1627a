import { Router } from 'express';
import { z } from 'zod';
import { requireRole } from '../access/roles.ts';
import { Failure, invalid } from '../http/failure.ts';
import { numberParam, paginate, readBody, repoOf, viewerOf } from '../http/request.ts';
import { renderIssue } from '../render/issue.ts';
import type { Sandbox } from '../state/model.ts';
import { change } from '../state/sandbox.ts';
import { issueOf, saveIssue } from './changes.ts';

const Link = z.object({ sub_issue_id: z.int(), replace_parent: z.boolean().optional() });

/** An issue has at most one parent, and no issue is above itself. */
export function subIssueRoutes(sandbox: Sandbox): Router {
  const router = Router({ mergeParams: true });

  router.get('/issues/:number/sub_issues', (req, res) => {
    const repo = repoOf(res);
    const parent = issueOf(sandbox, repo, numberParam(req, 'number'));
    const children = sandbox.state.list('issue', repo.id, parent.number);
    res.json(paginate(sandbox, req, res, children).map((child) => renderIssue(sandbox, repo, child)));
  });

  router.post('/issues/:number/sub_issues', (req, res) => {
    const repo = repoOf(res);
    requireRole(repo, viewerOf(res).login, 'triage');
    const { sub_issue_id, replace_parent } = readBody(Link, req, 'Issue');
    const parent = issueOf(sandbox, repo, numberParam(req, 'number'));
    const child = sandbox.state.list('issue', repo.id).find((issue) => issue.id === sub_issue_id);
    if (!child) throw new Failure(404, 'The provided sub-issue does not exist');
    if (child.parentNumber !== null && !replace_parent) {
      throw invalid('Issue', 'sub_issue_id', 'Sub issue may only have one parent');
    }
    for (let above: number | null = parent.number; above !== null; above = issueOf(sandbox, repo, above).parentNumber) {
      if (above === child.number) throw invalid('Issue', 'sub_issue_id', 'An issue cannot be below itself');
    }
    change(sandbox, () => saveIssue(sandbox, repo, { ...child, parentNumber: parent.number }));
    res.status(201).json(renderIssue(sandbox, repo, parent));
  });
  return router;
}
