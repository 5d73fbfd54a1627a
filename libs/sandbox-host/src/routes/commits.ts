import { Router } from 'express';
import { z } from 'zod';
import { requireRole } from '../access/roles.ts';
import { change } from '../changes/changes.ts';
import { branchRef } from '../git/git.ts';
import { Failure } from '../http/failure.ts';
import { paginate, queryValue, readBody, repoOf, viewerOf } from '../http/request.ts';
import { renderCheck, renderCombined, renderStatus } from '../render/status.ts';
import { type Sandbox, timestamp } from '../state/context.ts';
import type { RepoRecord } from '../state/model.ts';

const NewStatus = z.object({
  state: z.enum(['error', 'failure', 'pending', 'success']),
  target_url: z.url().nullish(),
  description: z.string().max(140).nullish(),
  context: z.string().min(1).default('default'),
});
const NewCheck = z.object({
  name: z.string().min(1),
  head_sha: z.string().regex(/^[0-9a-f]{40}$/),
  status: z.enum(['queued', 'in_progress', 'completed']).default('queued'),
  conclusion: z
    .enum(['success', 'failure', 'neutral', 'cancelled', 'skipped', 'timed_out', 'action_required'])
    .optional(),
});

/** Commit statuses and check runs. */
export function commitRoutes(sandbox: Sandbox): Router {
  const router = Router({ mergeParams: true });
  const { git, state } = sandbox;

  const commitOf = async (repo: RepoRecord, ref: string): Promise<string> => {
    const sha = (await git.resolve(git.dir(repo), branchRef(ref))) ?? (await git.resolve(git.dir(repo), ref));
    if (!sha) throw new Failure(422, `No commit found for SHA: ${ref}`);
    return sha;
  };

  router.post('/statuses/:sha', async (req, res) => {
    const [repo, { login }] = [repoOf(res), viewerOf(res)];
    requireRole(repo, login, 'write');
    const fresh = readBody(NewStatus, req, 'Status');
    const sha = await commitOf(repo, req.params.sha);
    const status = change(sandbox, () => {
      const { context, state: verdict, description = null, target_url = null } = fresh;
      const id = state.nextId();
      const record = { id, sha, context, state: verdict, description, targetUrl: target_url };
      const saved = { ...record, author: login, createdAt: timestamp(sandbox) };
      state.put('status', repo.id, saved);
      return saved;
    });
    res.status(201).json(renderStatus(sandbox, repo, status));
  });

  router.get('/commits/:ref/status', async (req, res) => {
    const repo = repoOf(res);
    const sha = await commitOf(repo, req.params.ref);
    const all = state.list('status', repo.id).filter((status) => status.sha === sha);
    // The newest of each context counts; a Map keeps the last one that is put in.
    const latest = [...new Map(all.map((status) => [status.context, status])).values()];
    res.json(renderCombined(sandbox, repo, sha, { latest, shown: paginate(sandbox, req, res, latest) }));
  });

  router.get('/commits/:ref/check-runs', async (req, res) => {
    const repo = repoOf(res);
    const sha = await commitOf(repo, req.params.ref);
    const [name, status] = [queryValue(req, 'check_name'), queryValue(req, 'status')];
    const found = state
      .list('check', repo.id)
      .filter((check) => check.sha === sha && (name ?? check.name) === check.name)
      .filter((check) => (status ?? check.status) === check.status);
    const shown = paginate(sandbox, req, res, found);
    res.json({ total_count: found.length, check_runs: shown.map((check) => renderCheck(sandbox, repo, check)) });
  });

  router.post('/check-runs', async (req, res) => {
    const repo = repoOf(res);
    requireRole(repo, viewerOf(res).login, 'write');
    const { name, head_sha, status, conclusion } = readBody(NewCheck, req, 'CheckRun');
    const sha = await commitOf(repo, head_sha);
    const at = timestamp(sandbox);
    const done = status === 'completed' || conclusion !== undefined;
    const check = change(sandbox, () => {
      const times = { startedAt: at, completedAt: done ? at : null };
      const verdict = { status: done ? ('completed' as const) : status, conclusion: conclusion ?? null };
      const record = { id: state.nextId(), sha, name, ...verdict, ...times };
      state.put('check', repo.id, record);
      return record;
    });
    res.status(201).json(renderCheck(sandbox, repo, check));
  });
  return router;
}
