import { parseSlug } from '@pipeline/domain';
import { z } from 'zod';
import { tenant } from './issue-address.ts';

/** How queries name a repo. */
export const repoQuery = {
  repo: z
    .string()
    .refine((text) => parseSlug(text) !== null, 'must be owner/repo')
    .meta({ description: 'The repo, owner/repo, in any case.', example: 'acme/shop' }),
  tenant,
};
