import type { NextFunction, Request, Response } from 'express';
import { GLOBAL, type RepoRecord, type Sandbox } from '../state/model.ts';

/** Serves `/repositories/:id/...`, the address of a repository whatever its name is. */
export const reposById = (sandbox: Sandbox) => (req: Request, _res: Response, next: NextFunction) => {
  const [, id, rest = ''] = /^\/repositories\/(\d{1,15})(?=[/?]|$)(.*)$/.exec(req.url) ?? [];
  const repo = id === undefined ? undefined : sandbox.state.get('repo', GLOBAL, Number(id));
  if (repo) req.url = `/repos/${repo.owner}/${repo.name}${rest}`;
  next();
};

/** Redirects like the real host: 301 for reads and 307 for writes, so that a client repeats it with its method. */
export function redirectToId(sandbox: Sandbox, repo: RepoRecord, { req, res }: { req: Request; res: Response }): void {
  const path = req.originalUrl.replace(/^\/api\/v3/, '');
  const rest = path.slice(/^\/repos\/[^/]+\/[^/?]+/.exec(path)?.[0].length ?? path.length);
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
