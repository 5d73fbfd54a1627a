import { z } from 'zod';
import { keptText } from '../wire/envelopes.ts';

/** Query parameter that selects the tenant when several have a repo with the same name. */
export const tenantQuery = {
  tenant: keptText(200).optional().meta({
    description: 'External id of the tenant. Required only when several tenants have a repo with this name.',
    example: 'default',
  }),
};

const params = z.object({
  owner: z.string().meta({ description: 'Owner of the repo.', example: 'acme' }),
  repo: z.string().meta({ description: 'Name of the repo.', example: 'shop' }),
  name: z.string().meta({ description: 'Track name.', example: 'tests' }),
});

/** Settings shared by all routes of one track. */
export const onTrack = { auth: 'operator', tags: ['Tracks'], params, query: z.object(tenantQuery) } as const;

export const TRACK = '/api/tracks/{owner}/{repo}/{name}';

/** Error when the repo name is ambiguous without a tenant. */
export const NEEDS_TENANT = {
  code: 'INVALID_INPUT',
  description: 'Several tenants have a repo with this name; the query must name the tenant',
} as const;
