import { z } from 'zod';
import { slugText } from '../wire/parameter-texts.ts';

export const tenant = z.string().max(200).optional().meta({
  description: 'External id of the tenant; needed only where several have a repo of that name.',
  example: 'default',
});

export const tenantQuery = z.object({ tenant });

/** How queries name a repo. */
export const repoQuery = {
  repo: slugText('must be owner/repo').meta({
    description: 'The repo, owner/repo, in any case.',
    example: 'acme/shop',
  }),
  tenant,
};
