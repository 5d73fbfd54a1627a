import type { Request, Response } from 'express';
import type { z } from 'zod';
import type { RepoRecord, Sandbox, UserRecord } from '../state/model.ts';
import { Failure, notFound } from './failure.ts';

/** Whose request it is; the authentication has run before. */
export function viewerOf(res: Response): UserRecord {
  const viewer: UserRecord | undefined = res.locals.viewer;
  if (!viewer) throw new Failure(401, 'Requires authentication');
  return viewer;
}

/** The app of a request with an installation token; null for a person. */
export function appIdOf(res: Response): number | null {
  const viewer: (UserRecord & { grant?: { appId: number } }) | undefined = res.locals.viewer;
  return viewer?.grant?.appId ?? null;
}

/** The repo of the path; it was looked up and is visible to the viewer. */
export function repoOf(res: Response): RepoRecord {
  const repo: RepoRecord | undefined = res.locals.repo;
  if (!repo) throw notFound();
  return repo;
}

/** @throws Failure 422 that names each field, as the host does. */
export function readBody<T extends z.ZodType>(schema: T, req: Request, resource: string): z.output<T> {
  const { data, error } = schema.safeParse(req.body ?? {});
  if (!error) return data as z.output<T>;
  const errors = error.issues.map((issue) => ({
    resource,
    field: issue.path.join('.') || 'body',
    code: issue.code === 'invalid_type' && issue.message.includes('undefined') ? 'missing_field' : 'invalid',
    message: issue.message,
  }));
  throw new Failure(422, 'Validation Failed', errors as NonNullable<Failure['errors']>);
}

export const numberParam = (req: Request, name: string): number => Number(req.params[name]);

/** One query value; the host ignores what is given twice. */
export const queryValue = (req: Request, name: string): string | undefined => {
  const value = req.query[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
};

/** Cuts the page out and sets `Link` as the host does. `per_page` is 30 by default, at most 100. */
export function paginate<T>(sandbox: Sandbox, req: Request, res: Response, items: T[]): T[] {
  const size = Math.min(positive(queryValue(req, 'per_page')) ?? 30, 100);
  const page = positive(queryValue(req, 'page')) ?? 1;
  const last = Math.max(1, Math.ceil(items.length / size));
  const link = (rel: string, to: number) => {
    const url = new URL(req.originalUrl, sandbox.url());
    url.searchParams.set('page', String(to));
    return `<${url.href}>; rel="${rel}"`;
  };
  const links = [
    ...(page > 1 ? [link('prev', Math.min(page - 1, last))] : []),
    ...(page < last ? [link('next', page + 1), link('last', last)] : []),
    ...(page > 1 ? [link('first', 1)] : []),
  ];
  if (links.length > 0) res.set('Link', links.join(', '));
  return items.slice((page - 1) * size, page * size);
}

function positive(value: string | undefined): number | undefined {
  const number = Number(value);
  return Number.isSafeInteger(number) && number > 0 ? number : undefined;
}
