import { z } from 'zod';
import type { DeclaredError } from '../wire/route.ts';

/** Repo slug `owner/name`, case-insensitive. Unknown repos are not rejected here; the handler returns 404. */
export const RepoQuery = z
  .string()
  .max(300)
  .regex(/^[^/]+\/[^/]+$/, 'must be owner/name')
  .meta({ description: 'Repo as `owner/name`, case-insensitive.', example: 'acme/shop' });

export const repoNotFound: DeclaredError = {
  code: 'REPO_NOT_FOUND',
  description: 'The repo is not enabled in the organisation, or the connection has no access to it',
};

/** Properties that the reads of connections have in common. */
export const read = { method: 'get', auth: 'connection', tags: ['Reads'] } as const;
