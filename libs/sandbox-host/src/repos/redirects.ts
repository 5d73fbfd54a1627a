import type { NextFunction, Request, Response } from 'express';
import { allows } from '../access/roles.ts';
import type { Viewer } from '../apps/auth.ts';
import { reaches } from '../apps/grants.ts';
import { viewerOf } from '../http/request.ts';
import { GLOBAL, type RepoRecord, type Sandbox } from '../state/model.ts';
import { findMovedRepo } from '../state/sandbox.ts';

/** Serves `/repositories/:id/...`, the address of a repository whatever its name is. */
export const reposById = (sandbox: Sandbox) => (req: Request, _res: Response, next: NextFunction) => {
  const [, id, rest = ''] = /^\/repositories\/(\d{1,15})(?=[/?]|$)(.*)$/.exec(req.url) ?? [];
  const repo = id === undefined ? undefined : sandbox.state.get('repo', GLOBAL, Number(id));
  if (repo) req.url = `/repos/${repo.owner}/${repo.name}${rest}`;
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

/** As the real host: 301 for what reads and 307 for what writes, so that a client repeats it with its method. */
export function redirectToId(sandbox: Sandbox, repo: RepoRecord, { req, res }: { req: Request; res: Response }): void {
  const [, rest = ''] = /^\/repos\/[^/]+\/[^/?]+(.*)$/.exec(req.originalUrl.replace(/^\/api\/v3/, '')) ?? [];
  const url = `${sandbox.url()}/repositories/${repo.id}${rest}`;
  const isRead = req.method === 'GET' || req.method === 'HEAD';
  const message = isRead ? 'Moved Permanently' : 'Temporary Redirect';
  res
    .status(isRead ? 301 : 307)
    .location(url)
    .json({
      message,
      url,
      documentation_url: 'https://docs.github.com/rest/guides/best-practices-for-using-the-rest-api#follow-redirects',
    });
}
