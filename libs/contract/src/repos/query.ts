import { z } from 'zod';
import { slugText } from '../wire/parameter-texts.ts';

export const tenant = z.string().max(200).optional().meta({
  description: 'External id of the tenant. Required only when several tenants have a repo with this name.',
  example: 'default',
});

export const tenantQuery = z.object({ tenant });

/** Query parameters of a repo. */
export const repoQuery = {
  repo: slugText('must be owner/repo').meta({
    description: 'Repo as `owner/repo`, case-insensitive.',
    example: 'acme/shop',
  }),
  tenant,
};
