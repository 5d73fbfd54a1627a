import { z } from 'zod';
import { keptText } from '../wire/envelopes.ts';

/** Names the owner of a repo where several have one of that name. */
export const tenantQuery = {
  tenant: keptText(200).optional().meta({
    description: 'External id of the tenant; needed only where several have a repo of that name.',
    example: 'default',
  }),
};

const params = z.object({
  owner: z.string().meta({ description: 'Owner of the repo.', example: 'acme' }),
  repo: z.string().meta({ description: 'Name of the repo.', example: 'shop' }),
  name: z.string().meta({ description: 'Name of the track.', example: 'tests' }),
});

/** What all routes of one track share. */
export const onTrack = { auth: 'operator', tags: ['Tracks'], params, query: z.object(tenantQuery) } as const;

export const TRACK = '/api/tracks/{owner}/{repo}/{name}';

/** The tenant must be named; every other problem of the query is told alike. */
export const NEEDS_TENANT = {
  code: 'INVALID_INPUT',
  description: 'Several tenants have a repo of that name: the query must name one.',
} as const;
