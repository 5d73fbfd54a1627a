import { z } from 'zod';
import type { DeclaredError } from '../wire/route.ts';

/** `owner/name` in any case. Whether there is such a repo is not the schema's affair: that is told by 404. */
export const RepoQuery = z
  .string()
  .max(300)
  .regex(/^[^/]+\/[^/]+$/, 'must be owner/name')
  .meta({ description: 'owner/name, in any case.', example: 'acme/shop' });

export const repoNotFound: DeclaredError = {
  code: 'REPO_NOT_FOUND',
  description: 'No enabled repo of that name is within reach of this connection',
};

/** What the reads of connections have in common. */
export const read = { method: 'get', auth: 'connection', tags: ['Reads'] } as const;
