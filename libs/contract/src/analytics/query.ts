import { WINDOWS } from '@pipeline/domain';
import { z } from 'zod';
import { slugText } from '../wire/parameter-texts.ts';

/** Scope parameters: a repo, a tenant, or everything. */
export const whose = {
  repo: slugText('must be owner/name')
    .optional()
    .meta({ description: 'Restricts the result to this repo, `owner/name`.', example: 'acme/shop' }),
  tenant: z.string().min(1).max(200).optional().meta({
    description:
      'Restricts the result to the tenant with this external id. Required when several tenants have a repo with the given name.',
    example: 'default',
  }),
};

const WINDOW_REFUSAL = `must be one of ${WINDOWS.join(', ')}`;

export const windowParam = (standard: (typeof WINDOWS)[number]) =>
  z
    .enum(WINDOWS, WINDOW_REFUSAL)
    .default(standard)
    .meta({ description: `Length of the window, which ends now. Default: ${standard}.`, example: standard });

export const Window = z.enum(WINDOWS);
export const count = z.int().nonnegative();
export const rate = z.number().min(0).max(100);
export const usd = z.number().nonnegative();

/** Settings shared by all analytics routes. */
export const analytics = {
  method: 'get',
  tags: ['Analytics'],
  auth: 'operator',
  errors: ['NOT_FOUND', 'INVALID_INPUT'],
} as const;
