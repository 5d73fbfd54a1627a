import type { NextFunction, Request, Response } from 'express';
import type { Sandbox } from './context.ts';
import { Failure, notFound } from './failure.ts';
import type { RepoRecord, UserRecord } from './model.ts';
import { viewerOf } from './request.ts';
import { allows } from './roles.ts';
import { GLOBAL } from './state.ts';
import { userByToken } from './users.ts';

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

/** @returns null for a request without credentials. @throws Failure 401 for wrong ones. */
export function authenticate(sandbox: Sandbox, req: Request): UserRecord | null {
  const token = tokenOf(req);
  if (token === null) return null;
  const user = userByToken(sandbox, token);
  if (!user) throw new Failure(401, 'Bad credentials');
  return user;
}

/** Every API request needs a token. */
export const requireViewer = (sandbox: Sandbox) => (req: Request, res: Response, next: NextFunction) => {
  const viewer = authenticate(sandbox, req);
  if (!viewer) throw new Failure(401, 'Requires authentication');
  res.locals.viewer = viewer;
  next();
};

export function findRepo({ state }: Sandbox, owner: string, name: string): RepoRecord | undefined {
  const slug = `${owner}/${name}`.toLowerCase();
  return state.list('repo', GLOBAL).find((repo) => `${repo.owner}/${repo.name}`.toLowerCase() === slug);
}

/** Looks the repo of the path up; one that the viewer may not see is not found. */
export const loadRepo = (sandbox: Sandbox) => (req: Request, res: Response, next: NextFunction) => {
  const repo = findRepo(sandbox, String(req.params.owner), String(req.params.repo));
  if (!repo || !allows(repo, viewerOf(res).login, 'read')) throw notFound();
  res.locals.repo = repo;
  next();
};
