import { parseSlug, type Role, reachOfRole, slugKey } from '@pipeline/domain';
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../driver/database.ts';
import { type Params, prepared } from '../driver/prepared.ts';

declare const checked: unique symbol;

/** Repos of one tenant that may be read: by a connection, or by an operator who named one. */
export interface ReadScope {
  readonly tenantId: number;
  /** null = every enabled repo of the tenant. A repo listed here may be disabled by now. */
  readonly repoIds: readonly number[] | null;
  readonly [checked]: true;
}

/**
 * Scope that a connection or a logged-in user may read now: one organisation, and in it all enabled repos or some. Only
 * the checks of an access token and of a membership create one, so a function that requires it cannot be called
 * without.
 */
export interface OrgScope extends ReadScope {
  readonly userId: number;
  readonly role: Role;
}

/** Operators of the monitor see every tenant; reads of one issue are bound to the repo in the path. */
export const operatorScope = (repo: { tenant_id: number; id: number }): ReadScope =>
  ({ tenantId: repo.tenant_id, repoIds: [repo.id] }) as unknown as ReadScope;

/** A usable connection whose access token was presented. */
export interface LiveConnection {
  readonly connectionId: string;
  readonly clientId: string;
  readonly clientName: string;
  /** The address of the API that the connection is for. */
  readonly resource: string;
  readonly scopes: readonly string[];
  /** The name by which the user logs in. */
  readonly login: string;
  readonly scope: OrgScope;
}

/** Token, connection and user: tables that a distributed store keeps in one place. Three probes of primary keys. */
const byAccessTokens = prepared('connections-by-access-tokens', (db, p: Params<{ hashes: readonly Buffer[] }>) =>
  db
    .selectFrom('oauth_tokens as t')
    .innerJoin('oauth_connections as c', 'c.id', 't.connection_id')
    .innerJoin('users as u', 'u.id', 'c.user_id')
    .select([
      't.hash',
      'c.id',
      'c.tenant_id',
      'c.user_id',
      'c.client_id',
      'c.client_name',
      'c.resource',
      'c.scope',
      'u.email',
    ])
    .where('t.hash', '=', sql<Buffer>`any(${p('hashes')}::bytea[])`)
    .where('t.kind', '=', sql.lit('AccessToken'))
    .where('t.expires_at', '>', sql<string>`svc_now()`)
    .where('c.expires_at', '>', sql<string>`svc_now()`)
    .where('c.revoked_at', 'is', null)
    .where('u.disabled_at', 'is', null),
);

interface Rights {
  user_id: number;
  role: Role;
  granted: number[] | null;
}

/** Rights of some members of one organisation. Two probes of primary keys for each. */
const rightsOfMembers = prepared(
  'rights-of-members',
  (_db, p: Params<{ tenantId: number; userIds: readonly number[] }>) => sql<Rights>`
    select m.user_id, m.role, (
      select array_agg(g.repo_id) from repo_grants g where g.tenant_id = ${p('tenantId')} and g.user_id = m.user_id
    ) as granted
    from memberships m
    where m.tenant_id = ${p('tenantId')} and m.user_id = any(${p('userIds')}::bigint[])`,
);

/** An organisation and a user of it. */
interface Owner {
  tenantId: number;
  userId: number;
}

/**
 * The connections of access tokens, with what each may read. Use the primary: a replica may not have a revocation yet.
 * Two statements: the tokens, and the rights of their users, one for each organisation. Both are read in every call, so
 * a revocation and the end of a right apply at once. The rights of tokens in `owners` are requested together with the
 * tokens, those of others after them. Many tokens cost little more than one.
 * @param hashes SHA-256 of each whole token.
 * @param owners the owner of each valid token seen before, by hash as hexadecimal text: it never changes. This call adds
 * to it; the caller bounds it.
 * @returns by the hash as hexadecimal text; without those whose token is unknown or expired, whose connection is
 * revoked or expired, whose user is disabled or no member.
 */
export async function findLiveConnections(
  primary: Db,
  hashes: readonly Buffer[],
  owners: Pick<Map<string, Owner>, 'get'> & { set(hash: string, owner: Owner): unknown },
): Promise<ReadonlyMap<string, LiveConnection>> {
  const known = hashes.flatMap((hash) => owners.get(hash.toString('hex')) ?? []);
  const [tokens, rights] = await Promise.all([byAccessTokens.all(primary, { hashes }), rightsOf(primary, known)]);
  const unread = tokens.map(ownerOf).filter((owner) => !rights.has(keyOf(owner)));
  if (unread.length > 0) for (const [key, right] of await rightsOf(primary, unread)) rights.set(key, right);
  return new Map(
    tokens.flatMap((token) => {
      const hash = token.hash.toString('hex');
      const owner = ownerOf(token);
      const right = rights.get(keyOf(owner));
      owners.set(hash, owner);
      return right ? [[hash, liveOf(token, right)] as const] : [];
    }),
  );
}

const ownerOf = ({ tenant_id: tenantId, user_id: userId }: TokenRow): Owner => ({ tenantId, userId });
const keyOf = ({ tenantId, userId }: Owner) => `${tenantId}/${userId}`;

/** Rights by {@link keyOf}, without users who are no members; one statement for each organisation, all sent at once. */
async function rightsOf(primary: Db, owners: readonly Owner[]): Promise<Map<string, Rights>> {
  const byTenant = Map.groupBy(owners, ({ tenantId }) => tenantId);
  const found = await Promise.all(
    [...byTenant].map(async ([tenantId, its]) => {
      const rights = await rightsOfMembers.all(primary, { tenantId, userIds: its.map(({ userId }) => userId) });
      return rights.map((right) => [keyOf({ tenantId, userId: right.user_id }), right] as const);
    }),
  );
  return new Map(found.flat());
}

interface TokenRow {
  hash: Buffer;
  id: string;
  tenant_id: number;
  user_id: number;
  client_id: string;
  client_name: string;
  resource: string;
  scope: string;
  email: string;
}

function liveOf(row: TokenRow, { role, granted }: Rights): LiveConnection {
  const { tenant_id: tenantId, user_id: userId } = row;
  return {
    connectionId: row.id,
    clientId: row.client_id,
    clientName: row.client_name,
    resource: row.resource,
    scopes: row.scope.split(' '),
    login: row.email,
    scope: { tenantId, userId, role, repoIds: reachOfRole(role, granted ?? []) } as OrgScope,
  };
}

const byMember = prepared('scope-by-member', (db, p: Params<{ tenantId: number; userId: number }>) =>
  db
    .selectFrom('memberships as m')
    .innerJoin('users as u', 'u.id', 'm.user_id')
    .select([
      'm.role',
      sql<number[] | null>`(
        select array_agg(g.repo_id) from repo_grants g where g.tenant_id = ${p('tenantId')} and g.user_id = ${p('userId')}
      )`.as('granted'),
    ])
    .where('m.tenant_id', '=', p('tenantId'))
    .where('m.user_id', '=', p('userId'))
    .where('u.disabled_at', 'is', null),
);

/**
 * Finds what a logged-in user may read in an organisation. Use the primary: a replica may not have a removal yet.
 * @returns null when the user is no member, or disabled.
 */
export async function findMemberScope(primary: Db, tenantId: number, userId: number): Promise<OrgScope | null> {
  const row = await byMember.first(primary, { tenantId, userId });
  if (!row) return null;
  const role = row.role as Role;
  return { tenantId, userId, role, repoIds: reachOfRole(role, row.granted ?? []) } as OrgScope;
}

/** Tenant and name of the requested repo, and the repos that may be read (null = all). */
export interface Reach {
  tenantId: number;
  slug: string;
  repoIds: readonly number[] | null;
}

/** @param slug case-insensitive; an invalid name matches no repo. */
export function reachOf({ tenantId, repoIds }: ReadScope, slug: string): Reach {
  const parsed = parseSlug(slug);
  return { tenantId, repoIds, slug: parsed ? slugKey(parsed) : '' };
}

/** The requested repo: no row when it is unknown, disabled, of another tenant or out of scope. */
export const reachableRepo = (p: Params<Reach>): RawBuilder<unknown> => sql`
  select r.id, r.owner, r.name from repos r
  where r.tenant_id = ${p('tenantId')} and r.slug_key = ${p('slug')} and r.enabled
    and (${p('repoIds')}::bigint[] is null or r.id = any(${p('repoIds')}::bigint[]))`;

const reached = prepared(
  'reached-repo',
  (_db, p: Params<Reach>) => sql<{ id: number }>`select repo.id from (${reachableRepo(p)}) repo`,
);

/** The repo that a connection requests by name; undefined when it is out of scope. */
export async function reachedRepo(
  read: Db,
  scope: ReadScope,
  slug: string,
): Promise<{ tenantId: number; repoId: number } | undefined> {
  const row = await reached.first(read, reachOf(scope, slug));
  return row && { tenantId: scope.tenantId, repoId: row.id };
}
