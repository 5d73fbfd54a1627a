import { type Request, type Response, Router } from 'express';
import { z } from 'zod';
import { requireRole } from '../access/roles.ts';
import { branchRef } from '../git/git.ts';
import { Failure, notFound } from '../http/failure.ts';
import { appIdOf, numberParam, paginate, queryValue, readBody, repoOf, viewerOf } from '../http/request.ts';
import type { CheckRecord, RepoRecord, Sandbox } from '../state/model.ts';
import { findRepo } from '../state/sandbox.ts';
import { addRun, addStatus, rerequestRun, updateRun } from './checks.ts';
import { renderCheck, renderCombined, renderStatus, renderSuite } from './render.ts';
import { latestRuns, latestStatuses } from './verdicts.ts';

const NewStatus = z.object({
  state: z.enum(['error', 'failure', 'pending', 'success']),
  target_url: z.url().nullish(),
  description: z.string().max(140, 'description is too long (maximum is 140 characters)').nullish(),
  context: z.string().min(1).default('default'),
});
const CONCLUSIONS = ['success', 'failure', 'neutral', 'cancelled', 'skipped', 'timed_out', 'action_required'] as const;
const Output = z.object({ title: z.string(), summary: z.string().max(65_535), text: z.string().max(65_535).nullish() });
const EditCheck = z.object({
  name: z.string().min(1).optional(),
  status: z.enum(['queued', 'in_progress', 'completed']).optional(),
  conclusion: z.enum(CONCLUSIONS).optional(),
  details_url: z.url().optional(),
  external_id: z.string().optional(),
  output: Output.optional(),
});
const NewCheck = EditCheck.extend({ name: z.string().min(1), head_sha: z.string().regex(/^[0-9a-f]{40}$/) });

/** A status of one commit may be set so often for a context; then the host answers 422. */
const MAX_STATUSES = 1_000;

/** Commit statuses, check runs, check suites and the logs of jobs. */
export function checkRoutes(sandbox: Sandbox): Router {
  const router = Router({ mergeParams: true });
  addStatuses(router, sandbox);
  addRuns(router, sandbox);
  addReads(router, sandbox);
  return router;
}

async function commitOf({ git }: Sandbox, repo: RepoRecord, ref: string): Promise<string> {
  const sha = (await git.resolve(git.dir(repo), branchRef(ref))) ?? (await git.resolve(git.dir(repo), ref));
  if (!sha) throw new Failure(422, `No commit found for SHA: ${ref}`);
  return sha;
}

function addStatuses(router: Router, sandbox: Sandbox): void {
  router.post('/statuses/:sha', async (req, res) => {
    const [repo, { login }] = [repoOf(res), viewerOf(res)];
    requireRole(repo, login, 'write');
    const { context, state, description = null, target_url: targetUrl = null } = readBody(NewStatus, req, 'Status');
    const sha = await commitOf(sandbox, repo, req.params.sha);
    const before = sandbox.state.list('status', repo.id).filter((each) => each.sha === sha && each.context === context);
    if (before.length >= MAX_STATUSES) {
      throw new Failure(422, 'This SHA and context has reached the maximum number of statuses.');
    }
    const status = addStatus(sandbox, repo, {
      sha,
      context,
      state,
      description,
      targetUrl,
      author: login,
      appId: appIdOf(res),
    });
    res.status(201).json(renderStatus(sandbox, repo, status));
  });

  router.get('/commits/:ref/status', async (req, res) => {
    const repo = repoOf(res);
    const sha = await commitOf(sandbox, repo, req.params.ref);
    const latest = latestStatuses(sandbox, repo, sha);
    res.json(renderCombined(sandbox, repo, sha, { latest, shown: paginate(sandbox, req, res, latest) }));
  });

  router.get('/commits/:ref/statuses', async (req, res) => {
    const repo = repoOf(res);
    const sha = await commitOf(sandbox, repo, req.params.ref);
    const all = sandbox.state.list('status', repo.id).filter((each) => each.sha === sha);
    res.json(paginate(sandbox, req, res, all.reverse()).map((each) => renderStatus(sandbox, repo, each)));
  });
}

/** Only apps write check runs: the host refuses people and their tokens. */
function appOf(res: Response): number {
  const id = appIdOf(res);
  if (id === null) throw new Failure(403, 'You must authenticate via a GitHub App.');
  return id;
}

const editOf = (body: z.output<typeof EditCheck>) => ({
  ...(body.name !== undefined && { name: body.name }),
  ...(body.details_url !== undefined && { detailsUrl: body.details_url }),
  ...(body.external_id !== undefined && { externalId: body.external_id }),
  ...(body.output && { output: { ...body.output, text: body.output.text ?? null } }),
});

/** A conclusion completes a run; a completed run without one is no valid request. */
function standingOf(body: z.output<typeof EditCheck>): Pick<CheckRecord, 'status' | 'conclusion'> {
  const { status = 'queued', conclusion = null } = body;
  if (status === 'completed' && conclusion === null) {
    throw new Failure(422, 'Invalid request.\n\nNo subschema in "anyOf" matched.\n"conclusion" wasn\'t supplied.');
  }
  return { status: conclusion === null ? status : 'completed', conclusion };
}

function addRuns(router: Router, sandbox: Sandbox): void {
  const find = (req: Request, res: Response): CheckRecord => {
    const found = sandbox.state.get('check', repoOf(res).id, numberParam(req, 'id'));
    if (!found) throw notFound();
    return found;
  };

  router.post('/check-runs', async (req, res) => {
    const [repo, { login: by }, appId] = [repoOf(res), viewerOf(res), appOf(res)];
    const body = readBody(NewCheck, req, 'CheckRun');
    const sha = await commitOf(sandbox, repo, body.head_sha);
    const run = { ...editOf(body), name: body.name, sha, ...standingOf(body) };
    res.status(201).json(renderCheck(sandbox, repo, addRun(sandbox, repo, { run, appId, by })));
  });

  router.patch('/check-runs/:id', (req, res) => {
    const [repo, { login: by }, appId] = [repoOf(res), viewerOf(res), appOf(res)];
    const found = find(req, res);
    const suite = sandbox.state.get('suite', repo.id, found.suiteId ?? 0);
    if (suite?.appId !== appId) {
      const words = `Invalid app_id \`${appId}\` - check run can only be modified by the GitHub App that created it.`;
      throw new Failure(403, words);
    }
    const body = readBody(EditCheck, req, 'CheckRun');
    const moved = body.status === undefined && body.conclusion === undefined ? {} : standingOf(body);
    res.json(renderCheck(sandbox, repo, updateRun(sandbox, repo, found, { edit: { ...editOf(body), ...moved }, by })));
  });

  router.get('/check-runs/:id', (req, res) => {
    res.json(renderCheck(sandbox, repoOf(res), find(req, res)));
  });

  router.post('/check-runs/:id/rerequest', (req, res) => {
    const [repo, { login: by }] = [repoOf(res), viewerOf(res)];
    requireRole(repo, by, 'write');
    rerequestRun(sandbox, repo, find(req, res), by);
    sandbox.ci.consider(repo);
    res.status(201).json({});
  });

  // The id of a check run of the host's own CI is the id of its job. The host redirects to where it keeps the file.
  router.get('/actions/jobs/:id/logs', (req, res) => {
    const found = find(req, res);
    if (found.log === undefined) throw notFound();
    const { owner, name } = repoOf(res);
    res.redirect(302, `${sandbox.url()}/_logs/${owner}/${name}/${found.id}`);
  });
}

function addReads(router: Router, sandbox: Sandbox): void {
  router.get('/commits/:ref/check-runs', async (req, res) => {
    const repo = repoOf(res);
    const sha = await commitOf(sandbox, repo, req.params.ref);
    const [name, status] = [queryValue(req, 'check_name'), queryValue(req, 'status')];
    const all =
      queryValue(req, 'filter') === 'all'
        ? sandbox.state.list('check', repo.id).filter((check) => check.sha === sha)
        : latestRuns(sandbox, repo, sha);
    const found = all
      .filter((check) => (name ?? check.name) === check.name)
      .filter((check) => (status ?? check.status) === check.status);
    const shown = paginate(sandbox, req, res, found);
    res.json({ total_count: found.length, check_runs: shown.map((check) => renderCheck(sandbox, repo, check)) });
  });

  router.get('/commits/:ref/check-suites', async (req, res) => {
    const repo = repoOf(res);
    const sha = await commitOf(sandbox, repo, req.params.ref);
    const found = sandbox.state.list('suite', repo.id).filter((suite) => suite.sha === sha);
    const shown = paginate(sandbox, req, res, found);
    res.json({ total_count: found.length, check_suites: shown.map((suite) => renderSuite(sandbox, repo, suite)) });
  });
}

/** The file that the log of a job is redirected to: its address is its key, as on the real host. */
export const jobLog = (sandbox: Sandbox) => (req: Request, res: Response) => {
  const repo = findRepo(sandbox, String(req.params.owner), String(req.params.repo));
  const found = repo && sandbox.state.get('check', repo.id, numberParam(req, 'id'));
  if (found?.log === undefined) throw notFound();
  res.type('text/plain').send(found.log);
};
