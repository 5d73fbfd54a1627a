import { describe, expect, test } from '@jest/globals';
import { hashTokenBytes } from '@pipeline/engine';
import { findLiveConnections, revokeConnection } from '@pipeline/store';
import { until } from '@pipeline/testing';
import { sql } from 'kysely';
import { mintConnection } from '../support/connections.ts';
import { addRepo, makeTenant, PUBLIC_URL, testHosted } from '../support/hosted.ts';

const hosting = testHosted();
const { database } = hosting;

const METADATA = `resource_metadata="${PUBLIC_URL}/.well-known/oauth-protected-resource/api", scope="pipeline:read"`;

/** Strangers get 401 for any path below /api; who is known learns that nothing is there. */
const answerTo = async (authorization: string | undefined) => {
  const headers = authorization === undefined ? {} : { authorization };
  const response = await hosting.api.fetch(`${hosting.api.url}/api/nothing`, { headers });
  const { code } = (await response.json()) as { code: string };
  return [response.status, code, response.headers.get('www-authenticate')];
};
const KNOWN = [404, 'NOT_FOUND', null];
const REFUSED = [401, 'AUTH_FAILED', `Bearer error="invalid_token", ${METADATA}`];

const owners = new Map<string, { tenantId: number; userId: number }>();

async function live(token: string) {
  const hash = hashTokenBytes(token);
  return (await findLiveConnections(database.store.tenant, [hash], owners)).get(hash.toString('hex')) ?? null;
}

describe('an access token', () => {
  test.each([
    ['nothing', undefined],
    ['another scheme', 'Basic YTpi'],
    ['no token', 'Bearer '],
    ['two tokens', 'Bearer a b'],
  ])('is required, with the address of its metadata, when there is %s', async (_what, authorization) => {
    expect(await answerTo(authorization)).toEqual([401, 'AUTH_REQUIRED', `Bearer ${METADATA}`]);
  });

  test.each([
    ['that is unknown', `Bearer mcp_at_${'a'.repeat(43)}`],
    ['that is too short', `Bearer mcp_at_${'a'.repeat(42)}`],
    ['for refreshing', `Bearer mcp_rt_${'a'.repeat(43)}`],
    ['of a worker that is unknown', `Bearer wrk_at_${'a'.repeat(43)}`],
  ])('%s is refused', async (_what, authorization) => {
    expect(await answerTo(authorization)).toEqual(REFUSED);
  });

  test('of a connection is known, whatever the case of the scheme', async () => {
    const { id: tenantId } = await makeTenant(hosting.api);
    const { token } = await mintConnection(database.store, { tenantId });
    expect(await answerTo(`bearer  ${token}`)).toEqual(KNOWN);
  });

  test('is refused at the very next request once its connection is revoked', async () => {
    const { id: tenantId } = await makeTenant(hosting.api);
    const { token, connectionId } = await mintConnection(database.store, { tenantId });
    expect(await answerTo(`Bearer ${token}`)).toEqual(KNOWN);
    expect(await revokeConnection(database.store.tenant, connectionId, 'user')).toBe(true);
    expect(await answerTo(`Bearer ${token}`)).toEqual(REFUSED);
    expect(await revokeConnection(database.store.tenant, connectionId, 'user')).toBe(false);
  });

  test('is refused once it is old, and once its connection is', async () => {
    const { id: tenantId } = await makeTenant(hosting.api);
    const short = await mintConnection(database.store, { tenantId, ttlMs: 1_000 });
    const long = await mintConnection(database.store, { tenantId, ttlMs: 9_999_000 });
    const begun = Date.now();
    try {
      database.clock.now = new Date(begun + 2_000);
      expect([await answerTo(`Bearer ${short.token}`), await answerTo(`Bearer ${long.token}`)]).toEqual([
        REFUSED,
        KNOWN,
      ]);
      database.clock.now = new Date(begun + 3_601_000);
      expect(await answerTo(`Bearer ${long.token}`)).toEqual(REFUSED);
    } finally {
      database.clock.now = null;
    }
  });

  test('is refused once its user is disabled', async () => {
    const { id: tenantId } = await makeTenant(hosting.api);
    const { token, userId } = await mintConnection(database.store, { tenantId });
    expect(await answerTo(`Bearer ${token}`)).toEqual(KNOWN);
    const disable = { disabled_at: new Date().toISOString() };
    await database.db.updateTable('users').set(disable).where('id', '=', userId).execute();
    expect(await answerTo(`Bearer ${token}`)).toEqual(REFUSED);
  });

  test('is refused once its user has left the organisation, though a member of another one', async () => {
    const [mine, other] = [await makeTenant(hosting.api), await makeTenant(hosting.api)];
    const { token, userId } = await mintConnection(database.store, { tenantId: mine.id, repoIds: [mine.repo.id] });
    expect(await answerTo(`Bearer ${token}`)).toEqual(KNOWN);
    await database.db
      .insertInto('memberships')
      .values({ tenant_id: other.id, user_id: userId, role: 'owner' })
      .execute();
    await database.db
      .deleteFrom('memberships')
      .where('tenant_id', '=', mine.id)
      .where('user_id', '=', userId)
      .execute();
    expect(await answerTo(`Bearer ${token}`)).toEqual(REFUSED);
  });

  test('is looked up together with its rights when it was seen before', async () => {
    const { id: tenantId } = await makeTenant(hosting.api);
    const { token } = await mintConnection(database.store, { tenantId });
    const first = await live(token);
    const again = await database.db.transaction().execute(async (tx) => {
      await sql`lock table oauth_tokens, memberships in access exclusive mode`.execute(tx);
      const found = live(token);
      await until('both statements wait for the locks', async () => {
        const { rows } = await sql`select from pg_locks where not granted and mode = 'AccessShareLock'`.execute(tx);
        return rows.length === 2;
      });
      return { found };
    });
    expect(await again.found).toEqual(first);
  });

  test('for another API is refused', async () => {
    const { id: tenantId } = await makeTenant(hosting.api);
    const { token } = await mintConnection(database.store, { tenantId, resource: 'https://elsewhere.example.org/api' });
    expect(await answerTo(`Bearer ${token}`)).toEqual(REFUSED);
  });
});

describe('what a connection may read', () => {
  test.each(['owner', 'admin'] as const)('is every repo of the organisation for an %s', async (role) => {
    const { id: tenantId, repo } = await makeTenant(hosting.api);
    const { token } = await mintConnection(database.store, { tenantId, role, repoIds: [repo.id] });
    expect((await live(token))?.scope).toMatchObject({ tenantId, role, repoIds: null });
  });

  test('is for a member what was granted, as it stands at this moment', async () => {
    const { id: tenantId, repo } = await makeTenant(hosting.api);
    const other = await addRepo(hosting.api, tenantId, `${repo.owner}/other`);
    const { token, userId } = await mintConnection(database.store, { tenantId, repoIds: [repo.id, other.id] });
    const reach = async () => [...((await live(token))?.scope.repoIds ?? [])].sort();
    expect(await reach()).toEqual([repo.id, other.id].sort());
    const grants = database.db.deleteFrom('repo_grants').where('user_id', '=', userId);
    await grants.where('repo_id', '=', repo.id).execute();
    expect(await reach()).toEqual([other.id]);
    await database.db.deleteFrom('repo_grants').where('user_id', '=', userId).execute();
    expect(await reach()).toEqual([]);
  });

  test('is never what the same user was granted in another organisation', async () => {
    const [mine, other] = [await makeTenant(hosting.api), await makeTenant(hosting.api)];
    const { token, userId } = await mintConnection(database.store, { tenantId: mine.id });
    await database.db
      .insertInto('memberships')
      .values({ tenant_id: other.id, user_id: userId, role: 'owner' })
      .execute();
    const grant = { tenant_id: other.id, user_id: userId, repo_id: other.repo.id };
    await database.db.insertInto('repo_grants').values(grant).execute();
    expect((await live(token))?.scope).toMatchObject({ tenantId: mine.id, role: 'member', repoIds: [] });
  });
});
