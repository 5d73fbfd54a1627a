import { Router } from 'express';
import { z } from 'zod';
import { allows, requireRole } from '../access/roles.ts';
import { branchRef } from '../git/git.ts';
import { Failure, notFound } from '../http/failure.ts';
import { numberParam, paginate, readBody, repoOf, viewerOf } from '../http/request.ts';
import type { ProtectionRecord, RepoRecord, RulesetRecord, Sandbox } from '../state/model.ts';
import { change, timestamp } from '../state/sandbox.ts';
import { renderBranch, renderProtection, renderRules, renderRuleset } from './render.ts';
import { isProtected, protectionOf } from './rules.ts';

const NewProtection = z.object({
  required_status_checks: z
    .object({
      strict: z.boolean(),
      contexts: z.array(z.string()).default([]),
      checks: z.array(z.object({ context: z.string(), app_id: z.int().nullish() })).optional(),
    })
    .nullable(),
  enforce_admins: z.boolean().nullable(),
  required_pull_request_reviews: z
    .object({
      dismiss_stale_reviews: z.boolean().default(false),
      required_approving_review_count: z.int().min(0).max(6).default(1),
    })
    .nullable(),
  restrictions: z.object({ users: z.array(z.string()), teams: z.array(z.string()) }).nullable(),
  required_linear_history: z.boolean().default(false),
  allow_force_pushes: z.boolean().nullable().default(false),
  allow_deletions: z.boolean().default(false),
});

const RULE_TYPES = [
  'creation',
  'update',
  'deletion',
  'required_linear_history',
  'non_fast_forward',
  'pull_request',
  'required_status_checks',
  'merge_queue',
] as const;
const NewRuleset = z.object({
  name: z.string().min(1),
  target: z.literal('branch').default('branch'),
  enforcement: z.enum(['active', 'disabled', 'evaluate']),
  conditions: z
    .object({
      ref_name: z.object({ include: z.array(z.string()).default([]), exclude: z.array(z.string()).default([]) }),
    })
    .prefault({ ref_name: {} }),
  rules: z
    .array(z.object({ type: z.enum(RULE_TYPES), parameters: z.record(z.string(), z.unknown()).optional() }))
    .default([]),
});

/** A branch and what protects it. Only administrators may read and change classic protection and change rulesets. */
export function branchRoutes(sandbox: Sandbox): Router {
  const router = Router({ mergeParams: true });

  const commitOf = async (repo: RepoRecord, branch: string): Promise<string> => {
    const sha = await sandbox.git.resolve(sandbox.git.dir(repo), branchRef(branch));
    if (!sha) throw new Failure(404, 'Branch not found');
    return sha;
  };

  const protection = router.route('/branches/:branch/protection');
  protection.all(async (req, res, next) => {
    if (!allows(repoOf(res), viewerOf(res).login, 'admin')) throw notFound();
    await commitOf(repoOf(res), String(req.params.branch));
    next();
  });
  protection.get((req, res) => {
    const found = protectionOf(sandbox, repoOf(res), req.params.branch);
    if (!found) throw new Failure(404, 'Branch not protected');
    res.json(renderProtection(sandbox, repoOf(res), found));
  });
  protection.put((req, res) => {
    const repo = repoOf(res);
    const { branch } = req.params;
    const body = readBody(NewProtection, req, 'Protection');
    const known = sandbox.state.list('protection', repo.id).find((each) => each.branch === branch);
    const record = change(sandbox, () => {
      const fresh = { id: known?.id ?? sandbox.state.nextId(), branch, ...protectionIn(body) };
      sandbox.state.put('protection', repo.id, fresh);
      return fresh;
    });
    res.json(renderProtection(sandbox, repo, record));
  });
  protection.delete((req, res) => {
    const repo = repoOf(res);
    const known = sandbox.state.list('protection', repo.id).find((each) => each.branch === req.params.branch);
    if (!known) throw new Failure(404, 'Branch not protected');
    change(sandbox, () => sandbox.state.remove('protection', repo.id, known.id));
    res.status(204).end();
  });

  router.get('/branches/:branch', async (req, res) => {
    const repo = repoOf(res);
    const { branch: name } = req.params;
    const sha = await commitOf(repo, name);
    const checks = protectionOf(sandbox, repo, name)?.checks ?? [];
    res.json(renderBranch(sandbox, repo, { name, sha, isProtected: isProtected(sandbox, repo, name), checks }));
  });

  router.get('/rules/branches/:branch', (req, res) => {
    res.json(paginate(sandbox, req, res, renderRules(sandbox, repoOf(res), req.params.branch)));
  });
  addRulesets(router, sandbox);
  return router;
}

function protectionIn(body: z.output<typeof NewProtection>): Omit<ProtectionRecord, 'id' | 'branch'> {
  const { required_status_checks: checks, required_pull_request_reviews: reviews, restrictions } = body;
  const named = checks?.checks ?? checks?.contexts.map((context) => ({ context, app_id: null })) ?? null;
  return {
    checks: named?.map(({ context, app_id: appId }) => ({ context, appId: appId ?? null })) ?? null,
    strict: checks?.strict ?? false,
    reviews: reviews && { count: reviews.required_approving_review_count, dismissStale: reviews.dismiss_stale_reviews },
    linear: body.required_linear_history,
    pushers: restrictions?.users ?? null,
    forcePushes: body.allow_force_pushes ?? false,
    deletions: body.allow_deletions,
    enforceAdmins: body.enforce_admins ?? false,
  };
}

/** Every user who sees the repository may read its rulesets. */
function addRulesets(router: Router, sandbox: Sandbox): void {
  const { state } = sandbox;
  const save = (repo: RepoRecord, id: number, body: z.output<typeof NewRuleset>): RulesetRecord =>
    change(sandbox, () => {
      const { name, enforcement, conditions, rules } = body;
      const given = rules.map(({ type, parameters }) => ({ type, ...(parameters && { parameters }) }));
      const record = { id, name, enforcement, ...conditions.ref_name, rules: given, createdAt: timestamp(sandbox) };
      state.put('ruleset', repo.id, record);
      return record;
    });
  const find = (repo: RepoRecord, id: number): RulesetRecord => {
    const found = state.get('ruleset', repo.id, id);
    if (!found) throw notFound();
    return found;
  };

  router.get('/rulesets', (req, res) => {
    const repo = repoOf(res);
    const found = paginate(sandbox, req, res, state.list('ruleset', repo.id));
    res.json(found.map((each) => renderRuleset(sandbox, repo, each)));
  });
  router.post('/rulesets', (req, res) => {
    const repo = repoOf(res);
    requireRole(repo, viewerOf(res).login, 'admin');
    const body = readBody(NewRuleset, req, 'Ruleset');
    if (state.list('ruleset', repo.id).some(({ name }) => name === body.name)) {
      throw new Failure(422, 'Validation Failed', [
        { resource: 'Ruleset', field: 'name', code: 'custom', message: 'Name must be unique' },
      ]);
    }
    res.status(201).json(renderRuleset(sandbox, repo, save(repo, state.nextId(), body)));
  });
  const one = router.route('/rulesets/:id');
  one.get((req, res) => {
    res.json(renderRuleset(sandbox, repoOf(res), find(repoOf(res), numberParam(req, 'id'))));
  });
  one.put((req, res) => {
    const repo = repoOf(res);
    requireRole(repo, viewerOf(res).login, 'admin');
    const { id } = find(repo, numberParam(req, 'id'));
    res.json(renderRuleset(sandbox, repo, save(repo, id, readBody(NewRuleset, req, 'Ruleset'))));
  });
  one.delete((req, res) => {
    const repo = repoOf(res);
    requireRole(repo, viewerOf(res).login, 'admin');
    const { id } = find(repo, numberParam(req, 'id'));
    change(sandbox, () => state.remove('ruleset', repo.id, id));
    res.status(204).end();
  });
}
