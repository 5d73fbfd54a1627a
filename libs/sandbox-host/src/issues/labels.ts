import { Router } from 'express';
import { z } from 'zod';
import { requireRole } from '../access/roles.ts';
import { Failure } from '../http/failure.ts';
import { numberParam, paginate, readBody, repoOf, viewerOf } from '../http/request.ts';
import { renderLabel, renderLabels } from '../render/basics.ts';
import type { Sandbox } from '../state/model.ts';
import { change } from '../state/sandbox.ts';
import { ensureLabel, issueOf, setLabels } from './changes.ts';
import { labelNames } from './routes.ts';

const Names = z.union([labelNames.transform((labels) => ({ labels })), z.object({ labels: labelNames })]);
const NewLabel = z.object({
  name: z.string().min(1).max(50),
  color: z
    .string()
    .regex(/^[0-9a-fA-F]{6}$/)
    .default('ededed'),
  description: z.string().max(100).nullish(),
});

/** Labels of an issue and of the repository. */
export function labelRoutes(sandbox: Sandbox): Router {
  const router = Router({ mergeParams: true });

  router
    .route('/issues/:number/labels')
    .get((req, res) => {
      const repo = repoOf(res);
      const issue = issueOf(sandbox, repo, numberParam(req, 'number'));
      res.json(paginate(sandbox, req, res, renderLabels(sandbox, repo, issue)));
    })
    .all((req, res) => {
      const [repo, by] = [repoOf(res), viewerOf(res).login];
      requireRole(repo, by, 'triage');
      const given = req.method === 'DELETE' ? [] : readBody(Names, req, 'Label').labels;
      const issue = issueOf(sandbox, repo, numberParam(req, 'number'));
      const labels = req.method === 'POST' ? [...issue.labels, ...given] : given;
      const saved = change(sandbox, () => setLabels(sandbox, repo, issue, { labels, by }));
      if (req.method === 'DELETE') res.status(204).end();
      else res.json(renderLabels(sandbox, repo, saved));
    });

  router.delete('/issues/:number/labels/:name', (req, res) => {
    const [repo, by] = [repoOf(res), viewerOf(res).login];
    requireRole(repo, by, 'triage');
    const issue = issueOf(sandbox, repo, numberParam(req, 'number'));
    const name = String(req.params.name).toLowerCase();
    const labels = issue.labels.filter((label) => label.toLowerCase() !== name);
    if (labels.length === issue.labels.length) throw new Failure(404, 'Label does not exist');
    res.json(
      renderLabels(
        sandbox,
        repo,
        change(sandbox, () => setLabels(sandbox, repo, issue, { labels, by })),
      ),
    );
  });

  router.get('/labels', (req, res) => {
    const repo = repoOf(res);
    const labels = sandbox.state.list('label', repo.id).map((label) => renderLabel(sandbox, repo, label));
    res.json(paginate(sandbox, req, res, labels));
  });

  router.post('/labels', (req, res) => {
    const repo = repoOf(res);
    requireRole(repo, viewerOf(res).login, 'triage');
    const { name, color, description } = readBody(NewLabel, req, 'Label');
    const taken = sandbox.state.list('label', repo.id).some((label) => label.name.toLowerCase() === name.toLowerCase());
    if (taken) {
      throw new Failure(422, 'Validation Failed', [{ resource: 'Label', field: 'name', code: 'already_exists' }]);
    }
    const label = change(sandbox, () => {
      const fresh = { ...ensureLabel(sandbox, repo, name), color, description: description ?? null };
      sandbox.state.put('label', repo.id, fresh);
      return fresh;
    });
    res.status(201).json(renderLabel(sandbox, repo, label));
  });
  return router;
}
