import { ROLES } from '@pipeline/domain';
import { z } from 'zod';
import { Timestamp } from '../wire/envelopes.ts';
import { route } from '../wire/route.ts';
import { change, get, inOrg, orgErrors } from './browser-route.ts';

const role = z.enum(ROLES, `must be one of ${ROLES.join(', ')}`);
const email = z.email('must be an email address').max(254);

const browserMembers = route({
  ...get,
  id: 'browserMembers',
  path: '/account/data/members',
  summary: 'List the members of an organisation',
  description: 'For owners; other members get 404.',
  query: inOrg,
  replies: {
    200: {
      description: 'The members.',
      body: z.object({
        items: z.array(
          z.object({
            email: z.string(),
            name: z.string(),
            role: z.enum(ROLES),
            repos: z.array(z.string()).nullable().meta({ description: 'Null: every enabled repo.' }),
          }),
        ),
      }),
    },
  },
  errors: orgErrors,
});

const browserChangeRole = route({
  ...change,
  id: 'browserChangeRole',
  path: '/account/data/members/role',
  summary: 'Change the role of a member',
  description: 'For owners; other members get 404. The last owner keeps the role.',
  query: inOrg,
  body: z.object({ email, role }),
  replies: { 200: { description: 'The member.', body: z.object({ email: z.string(), role, changed: z.boolean() }) } },
  errors: orgErrors,
});

const browserRemoveMember = route({
  ...change,
  id: 'browserRemoveMember',
  path: '/account/data/members/remove',
  summary: 'Remove a member',
  description:
    'For owners; other members get 404. The connections of the user lose access to the organisation with their next request. The last owner cannot be removed.',
  query: inOrg,
  body: z.object({ email }),
  replies: { 200: { description: 'Removed.', body: z.object({ email: z.string(), removed: z.literal(true) }) } },
  errors: orgErrors,
});

const browserInvitations = route({
  ...get,
  id: 'browserInvitations',
  path: '/account/data/invitations',
  summary: 'List the open invitations of an organisation',
  description: 'For owners; other members get 404. Newest first.',
  query: inOrg,
  replies: {
    200: {
      description: 'The invitations.',
      body: z.object({
        items: z.array(
          z.object({
            id: z.string(),
            email: z.string(),
            role,
            invitedBy: z.string(),
            createdAt: Timestamp,
            expiresAt: Timestamp,
          }),
        ),
      }),
    },
  },
  errors: orgErrors,
});

const browserInvite = route({
  ...change,
  id: 'browserInvite',
  path: '/account/data/invitations',
  summary: 'Invite a person',
  description:
    'For owners; other members get 404. The response is the only one with the link; it works once. Open invitations of the same address to the organisation are revoked.',
  query: inOrg,
  body: z.object({
    email,
    role,
    days: z.int().min(1).max(30).default(7).meta({ description: 'Days until the link expires.' }),
  }),
  replies: {
    200: {
      description: 'The invitation.',
      body: z.object({
        id: z.string(),
        email: z.string(),
        role,
        expiresAt: Timestamp,
        path: z.string().meta({ description: 'Path and query of the link on this service.' }),
        replaced: z.boolean().meta({ description: 'True when an open invitation of this address was revoked.' }),
      }),
    },
  },
  errors: orgErrors,
});

const browserRevokeInvitation = route({
  ...change,
  id: 'browserRevokeInvitation',
  path: '/account/data/invitations/{id}/revoke',
  summary: 'Revoke an invitation',
  description: 'For owners; other members get 404, as for an invitation that is not open.',
  params: z.object({ id: z.string().max(40) }),
  query: inOrg,
  replies: { 200: { description: 'Revoked.', body: z.object({ id: z.string(), revoked: z.literal(true) }) } },
  errors: orgErrors,
});

/** Members and invitations of an organisation, for its owners. */
export const memberRoutes = [
  browserMembers,
  browserChangeRole,
  browserRemoveMember,
  browserInvitations,
  browserInvite,
  browserRevokeInvitation,
] as const;
