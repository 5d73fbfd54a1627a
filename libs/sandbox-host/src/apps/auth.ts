import type { NextFunction, Request, Response } from 'express';
import { allows } from '../access/roles.ts';
import { Failure, notFound } from '../http/failure.ts';
import { redirectToId } from '../http/redirects.ts';
import { viewerOf } from '../http/request.ts';
import type { Grant, Permission } from '../state/app-records.ts';
import { GLOBAL, type RepoRecord, type Sandbox, type UserRecord } from '../state/model.ts';
import { findMovedRepo, findRepo, userByToken } from '../state/sandbox.ts';
import { botOf, grantOf, grants, reaches } from './grants.ts';
import { userByOauthToken } from './oauth-apps.ts';

/** The token of `Bearer x`, `token x` or Basic with the token as password; null without the header. */
function tokenOf(req: Request): string | null {
  const [scheme = '', value = ''] = (req.headers.authorization ?? '').split(' ');
  switch (scheme.toLowerCase()) {
    case '':
      return null;
    case 'bearer':
    case 'token':
      return value;
    case 'basic': {
      const pair = Buffer.from(value, 'base64').toString('utf8');
      return pair.slice(pair.indexOf(':') + 1);
    }
    default:
      return '';
  }
}

/** User of a request; an app with a token of an installation may do no more than that token. */
export type Viewer = UserRecord & { grant?: Grant };

/** @returns null for a request without credentials. @throws Failure 401 for wrong ones. */
export function authenticate(sandbox: Sandbox, req: Request): Viewer | null {
  const token = tokenOf(req);
  if (token === null) return null;
  const viewer = userByToken(sandbox, token) ?? appUser(sandbox, token) ?? profileReader(sandbox, req, token);
  if (!viewer) throw new Failure(401, 'Bad credentials');
  return viewer;
}

/** The person of a token of an OAuth app, which reads the profile of that person and nothing else. */
const profileReader = (sandbox: Sandbox, req: Request, token: string): Viewer | undefined =>
  req.method === 'GET' && `${req.baseUrl}${req.path}`.replace(/\/$/, '') === '/user'
    ? userByOauthToken(sandbox, token)
    : undefined;

function appUser(sandbox: Sandbox, token: string): Viewer | undefined {
  const grant = grantOf(sandbox, token);
  const app = grant && sandbox.state.get('app', GLOBAL, grant.appId);
  const bot = app && sandbox.state.findUser(botOf(app));
  return bot && grant && { ...bot, grant };
}

/** Returns the refusal of an action that the app of a token may not take although the token is good. */
const notForApps = () => new Failure(403, 'Resource not accessible by integration');

/** Every API request needs a token. */
export const requireViewer = (sandbox: Sandbox) => (req: Request, res: Response, next: NextFunction) => {
  const viewer = authenticate(sandbox, req);
  if (!viewer) throw new Failure(401, 'Requires authentication');
  res.locals.viewer = viewer;
  next();
};

/** Refuses apps where the resource belongs to a person. */
export const refuseApps = (_req: Request, res: Response, next: NextFunction) => {
  const viewer: Viewer = viewerOf(res);
  if (viewer.grant) throw notForApps();
  next();
};

/** Leads from the former name of a repository to its address by id, if the viewer may see it. */
export const movedRepos = (sandbox: Sandbox) => (req: Request, res: Response, next: NextFunction) => {
  const repo = findMovedRepo(sandbox, String(req.params.owner), String(req.params.repo));
  if (!repo || !sees(viewerOf(res), repo)) return next();
  redirectToId(sandbox, repo, { req, res });
};

const sees = ({ login, grant }: Viewer, repo: RepoRecord): boolean =>
  allows(repo, login, 'read') && (!grant || reaches(grant, repo));

/** Looks the repo of the path up; one that the viewer may not see is not found. */
export const loadRepo = (sandbox: Sandbox) => (req: Request, res: Response, next: NextFunction) => {
  const repo = findRepo(sandbox, String(req.params.owner), String(req.params.repo));
  const viewer: Viewer = viewerOf(res);
  if (!repo || !allows(repo, viewer.login, 'read')) throw notFound();
  if (viewer.grant) requireGrant(viewer.grant, repo, req);
  res.locals.repo = repo;
  next();
};

/** Returns whether a viewer may fetch from a repo (`read`) or push to it (`write`). */
export const mayUseGit = ({ login, grant }: Viewer, repo: RepoRecord, level: 'read' | 'write'): boolean =>
  allows(repo, login, level) && (!grant || grants(grant, repo, 'contents', level));

/** Returns whether a viewer may push changes of workflow files: an app needs a right of its own for them. */
export const mayPushWorkflows = (viewer: Viewer | null, repo: RepoRecord): boolean =>
  !viewer?.grant || grants(viewer.grant, repo, 'workflows', 'write');

/** The right that a path below a repo takes, by its first segment. */
const RIGHT: Record<string, Permission> = {
  issues: 'issues',
  labels: 'issues',
  pulls: 'pull_requests',
  statuses: 'statuses',
  git: 'contents',
  commits: 'contents',
  activity: 'contents',
  merges: 'contents',
  'check-runs': 'checks',
  'check-suites': 'checks',
  actions: 'actions',
  rulesets: 'administration',
};

function requireGrant(grant: Grant, repo: RepoRecord, req: Request): void {
  if (!reaches(grant, repo)) throw notFound();
  const right = rightFor(req);
  const level = req.method === 'GET' ? 'read' : 'write';
  // Rulesets are read with the metadata of the repo.
  if (level === 'read' && req.path.startsWith('/rulesets')) return;
  if (!grants(grant, repo, right, level)) throw notForApps();
}

/** Reading the checks and statuses of a commit and merging take rights of their own. */
function rightFor({ path }: Request): Permission {
  const [, first = '', ...rest] = path.split('/');
  const last = rest.at(-1) ?? '';
  if (first === 'commits' && (last === 'status' || last === 'statuses')) return 'statuses';
  if (first === 'commits' && (last === 'check-runs' || last === 'check-suites')) return 'checks';
  if (first === 'branches' && rest[1] === 'protection') return 'administration';
  if (first === 'pulls' && last === 'merge') return 'contents';
  return RIGHT[first] ?? 'metadata';
}
