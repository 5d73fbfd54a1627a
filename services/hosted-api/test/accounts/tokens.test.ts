import { afterEach, describe, expect, test } from '@jest/globals';
import { hashToken, hashTokenBytes } from '@pipeline/engine';
import { findLiveConnections, findWorkerScope, revokeConnection, revokeWorkerToken } from '@pipeline/store';
import { until } from '@pipeline/testing';
import { sql } from 'kysely';
import { GatheredLookups } from '../../src/auth/connection-tokens.ts';
import { mintConnection } from '../support/connections.ts';
import { addRepo, makeTenant, makeToken, NO_LIMITS, PUBLIC_URL, register, testHosted } from '../support/hosted.ts';

const clock = { now: new Date() };
const hosting = testHosted({ now: () => clock.now });
const { database } = hosting;

describe('tokens of connections', () => {
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
    return (await findLiveConnections(database.store.db, [hash], owners)).get(hash.toString('hex')) ?? null;
  }

  describe('an access token', () => {
    test.each([
      ['nothing', undefined],
      ['another scheme', 'Basic YTpi'],
      ['no token', 'Bearer '],
      ['two tokens', 'Bearer a b'],
    ])('requires an access token, with the address of its metadata, when there is %s', async (_what, authorization) => {
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

    test('accepts the token of a connection, whatever the case of the scheme', async () => {
      const { id: tenantId } = await makeTenant(hosting.api);
      const { token } = await mintConnection(database.owner, { tenantId });
      expect(await answerTo(`bearer  ${token}`)).toEqual(KNOWN);
    });

    test('refuses a token at the very next request once its connection is revoked', async () => {
      const { id: tenantId } = await makeTenant(hosting.api);
      const { token, connectionId } = await mintConnection(database.owner, { tenantId });
      expect(await answerTo(`Bearer ${token}`)).toEqual(KNOWN);
      expect(await revokeConnection(database.store.db, connectionId, 'user')).not.toBeNull();
      expect(await answerTo(`Bearer ${token}`)).toEqual(REFUSED);
      expect(await revokeConnection(database.store.db, connectionId, 'user')).toBeNull();
    });

    test('refuses a token once it is old, and once its connection is', async () => {
      const { id: tenantId } = await makeTenant(hosting.api);
      const short = await mintConnection(database.owner, { tenantId, ttlMs: 1_000 });
      const long = await mintConnection(database.owner, { tenantId, ttlMs: 9_999_000 });
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

    test('refuses a token once its user is disabled', async () => {
      const { id: tenantId } = await makeTenant(hosting.api);
      const { token, userId } = await mintConnection(database.owner, { tenantId });
      expect(await answerTo(`Bearer ${token}`)).toEqual(KNOWN);
      const disable = { disabled_at: new Date().toISOString() };
      await database.db.updateTable('users').set(disable).where('id', '=', userId).execute();
      expect(await answerTo(`Bearer ${token}`)).toEqual(REFUSED);
    });

    test('refuses a token once its user has left the organisation, though a member of another one', async () => {
      const [mine, other] = [await makeTenant(hosting.api), await makeTenant(hosting.api)];
      const { token, userId } = await mintConnection(database.owner, { tenantId: mine.id, repoIds: [mine.repo.id] });
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

    test('reads a token together with its rights when it was used before', async () => {
      const { id: tenantId } = await makeTenant(hosting.api);
      const { token } = await mintConnection(database.owner, { tenantId });
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

    test('refuses an access token for another API', async () => {
      const { id: tenantId } = await makeTenant(hosting.api);
      const { token } = await mintConnection(database.owner, {
        tenantId,
        resource: 'https://elsewhere.example.org/api',
      });
      expect(await answerTo(`Bearer ${token}`)).toEqual(REFUSED);
    });
  });

  describe('what a connection may read', () => {
    test.each(['owner', 'admin'] as const)('an %s reads every repo of the organisation', async (role) => {
      const { id: tenantId, repo } = await makeTenant(hosting.api);
      const { token } = await mintConnection(database.owner, { tenantId, role, repoIds: [repo.id] });
      expect((await live(token))?.scope).toMatchObject({ tenantId, role, repoIds: null });
    });

    test('a member reads the repos that are granted at this moment', async () => {
      const { id: tenantId, repo } = await makeTenant(hosting.api);
      const other = await addRepo(hosting.api, tenantId, `${repo.owner}/other`);
      const { token, userId } = await mintConnection(database.owner, { tenantId, repoIds: [repo.id, other.id] });
      const reach = async () => [...((await live(token))?.scope.repoIds ?? [])].sort();
      expect(await reach()).toEqual([repo.id, other.id].sort());
      const grants = database.db.deleteFrom('repo_grants').where('user_id', '=', userId);
      await grants.where('repo_id', '=', repo.id).execute();
      expect(await reach()).toEqual([other.id]);
      await database.db.deleteFrom('repo_grants').where('user_id', '=', userId).execute();
      expect(await reach()).toEqual([]);
    });

    test('a connection never has the rights of another organisation of its user', async () => {
      const [mine, other] = [await makeTenant(hosting.api), await makeTenant(hosting.api)];
      const { token, userId } = await mintConnection(database.owner, { tenantId: mine.id });
      await database.db
        .insertInto('memberships')
        .values({ tenant_id: other.id, user_id: userId, role: 'owner' })
        .execute();
      const grant = { tenant_id: other.id, user_id: userId, repo_id: other.repo.id };
      await database.db.insertInto('repo_grants').values(grant).execute();
      expect((await live(token))?.scope).toMatchObject({ tenantId: mine.id, role: 'member', repoIds: [] });
    });
  });
});

describe('tokens of workers', () => {
  afterEach(() => {
    database.clock.now = null;
  });

  const answerTo = async (authorization: string | undefined) => {
    const response = await hosting.api.fetch(`${hosting.api.url}/api/worker/claim`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(authorization && { authorization }) },
      body: '{}',
    });
    const { code } = (await response.json()) as { code: string };
    return [response.status, code, response.headers.get('www-authenticate')];
  };

  describe('a worker token', () => {
    test.each([
      ['nothing', undefined],
      ['another scheme', 'Basic YTpi'],
      ['no token', 'Bearer '],
      ['two tokens', 'Bearer a b'],
    ])('requires a worker token when there is %s', async (_what, authorization) => {
      expect(await answerTo(authorization)).toEqual([401, 'AUTH_REQUIRED', 'Bearer']);
    });

    test.each([
      ['of another kind', `Bearer mcp_at_${'a'.repeat(43)}`],
      ['that is unknown', `Bearer wrk_at_${'a'.repeat(43)}`],
      ['with characters that no token has', `Bearer wrk_at_${'a'.repeat(40)}'--`],
    ])('%s is refused', async (_what, authorization) => {
      expect(await answerTo(authorization)).toEqual([401, 'AUTH_FAILED', 'Bearer error="invalid_token"']);
    });

    test('refuses a token of another kind with the prefix of the right one', async () => {
      const { body } = await hosting.api.post('/api/worker/claim', {}, { token: 'mcp_at_abcdefghijklmnop' });
      expect(body.error).toContain('wrk_at_');
    });

    test('accepts the scheme in any case', async () => {
      const { token } = await makeTenant(hosting.api);
      expect((await answerTo(`bearer ${token}`)).slice(0, 2)).toEqual([400, 'INVALID_BODY']);
    });

    test('refuses a revoked token within two seconds', async () => {
      const { token } = await makeTenant(hosting.api);
      await register(hosting.api, token);
      const scope = await findWorkerScope(database.store.db, hashToken(token));
      await revokeWorkerToken(database.owner.db, scope?.tokenId ?? '');
      clock.now = new Date(clock.now.getTime() + 2_001);
      expect((await answerTo(`Bearer ${token}`))[1]).toBe('AUTH_FAILED');
    });

    test('costs one look-up in two seconds', async () => {
      const statements: string[] = [];
      const store = hosting.open({ onStatement: (text) => statements.push(text) });
      const api = await hosting.start({ store, now: () => clock.now });
      const { token } = await makeTenant(hosting.api);
      await Promise.all([1, 2, 3].map(() => register(api, token)));
      expect(statements.filter((text) => /from "worker_tokens"/.test(text))).toHaveLength(1);
    });

    test('refuses an expired token with 401 within two seconds', async () => {
      const { id } = await makeTenant(hosting.api);
      const start = new Date('2030-01-01T00:00:00Z');
      database.clock.now = start;
      const token = await makeToken(database.owner, id, null, { expiresAt: '2030-01-01T01:00:00Z' });
      await register(hosting.api, token);
      database.clock.now = new Date('2030-01-01T01:00:00Z');
      clock.now = new Date(clock.now.getTime() + 2_001);
      expect(await answerTo(`Bearer ${token}`)).toEqual([401, 'AUTH_FAILED', 'Bearer error="invalid_token"']);
    });

    test('records the last use of a token once a minute when it is used all the time', async () => {
      const { id } = await makeTenant(hosting.api);
      const statements: string[] = [];
      const store = hosting.open({ onStatement: (text) => statements.push(text) });
      const api = await hosting.start({ store, now: () => clock.now });
      const token = await makeToken(database.owner, id, null);
      const lastUse = async () => {
        const row = { token_hash: hashToken(token) };
        const query = database.db.selectFrom('worker_tokens').select('last_used_at');
        return (await query.where('token_hash', '=', row.token_hash).executeTakeFirstOrThrow()).last_used_at;
      };
      const useAt = async (time: string) => {
        database.clock.now = new Date(time);
        clock.now = new Date(clock.now.getTime() + 2_001);
        await register(api, token);
      };
      expect(await lastUse()).toBeNull();
      await useAt('2030-01-01T00:00:00Z');
      await until('the use is recorded', async () => (await lastUse()) === '2030-01-01T00:00:00.000Z');
      await useAt('2030-01-01T00:00:59Z');
      await useAt('2030-01-01T00:01:00Z');
      await until('the next minute is recorded', async () => (await lastUse()) === '2030-01-01T00:01:00.000Z');
      expect(statements.filter((text) => /^update "worker_tokens"/.test(text))).toHaveLength(2);
    });
  });

  test('strangers learn nothing about paths below /api', async () => {
    const { token } = await makeTenant(hosting.api);
    expect((await hosting.api.post('/api/nothing', {})).body.code).toBe('AUTH_REQUIRED');
    expect((await hosting.api.post('/api/nothing', {}, { token })).body.code).toBe('NOT_FOUND');
  });

  test('a token has its number of requests a second', async () => {
    const api = await hosting.start({ limits: { ...NO_LIMITS, worker: 2 } });
    const [one, two] = [await makeTenant(api), await makeTenant(api)];
    await register(api, one.token);
    await register(api, one.token);
    const third = await api.post('/api/worker/heartbeat', { workerId: 'w', status: 'idle' }, one);
    expect([third.status, third.body.code, third.headers.get('retry-after')]).toEqual([429, 'RATE_LIMITED', '1']);
    expect(await register(api, two.token)).toMatch(/^wkr_/);
  });
});

describe('gathered look-ups', () => {
  /** Look-ups that end when the test ends them. */
  function held() {
    const calls: { keys: readonly string[]; end(found: Record<string, number>): void; fail(error: Error): void }[] = [];
    const lookups = new GatheredLookups<number>(
      (keys) =>
        new Promise((resolve, reject) => {
          calls.push({ keys, end: (found) => resolve(new Map(Object.entries(found))), fail: reject });
        }),
    );
    return { calls, lookups };
  }

  const turn = () => new Promise(setImmediate);

  test('looks up each key once when keys arrive in one turn or while a look-up is in flight', async () => {
    const { calls, lookups } = held();
    const first = lookups.find('a');
    const beside = lookups.find('c');
    expect(calls).toEqual([]);
    await turn();
    const others = ['b', 'a', 'b'].map((key) => lookups.find(key));
    expect(calls.map(({ keys }) => keys)).toEqual([['a', 'c']]);
    calls[0]?.end({ a: 1, c: 3 });
    expect(await Promise.all([first, beside])).toEqual([1, 3]);
    await turn();
    expect(calls[1]?.keys).toEqual(['b', 'a']);
    calls[1]?.end({ a: 2 });
    // Later requests get the result of a later look-up.
    expect(await Promise.all(others)).toEqual([undefined, 2, undefined]);
  });

  test('rejects only the keys of a look-up that fails', async () => {
    const { calls, lookups } = held();
    const first = lookups.find('a');
    await turn();
    const second = lookups.find('b');
    calls[0]?.fail(new Error('gone'));
    await expect(first).rejects.toThrow('gone');
    await turn();
    calls[1]?.end({ b: 2 });
    expect(await second).toBe(2);
    const third = lookups.find('c');
    await turn();
    calls[2]?.end({ c: 3 });
    expect(await third).toBe(3);
  });
});
