import { parseSlug } from '@pipeline/domain';
import { z } from 'zod';

export const tenantParameter = z.string().max(200).optional().meta({
  description: 'External id of the tenant; needed only where several have a repo of that name.',
  example: 'default',
});

/** How queries name a repo. */
export const repoQuery = {
  repo: z
    .string()
    .refine((text) => parseSlug(text) !== null, 'must be owner/repo')
    .meta({ description: 'The repo, owner/repo, in any case.', example: 'acme/shop' }),
  tenant: tenantParameter,
};
