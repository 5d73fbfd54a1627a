import { z } from 'zod';
import type { DeclaredError } from '../wire/route.ts';

/** Properties that the routes of the customers' pages have in common. */
const browser = { auth: 'session', tags: ['Pages'], undocumented: true } as const;
export const get = { ...browser, method: 'get' } as const;
/** Changes need the form token of the session in the header `x-form-token`. */
export const change = { ...browser, method: 'post' } as const;

const noOrg: DeclaredError = { code: 'NOT_FOUND', description: 'No such organisation, or the user is no member of it' };
export const orgErrors = [noOrg];

export const OrgQuery = z.string().min(1).max(63).meta({ description: 'Id of the organisation.', example: 'acme' });
export const inOrg = z.object({ org: OrgQuery });
