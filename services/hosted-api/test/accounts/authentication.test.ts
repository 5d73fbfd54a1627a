import { afterEach, describe, expect, test } from '@jest/globals';
import { hashToken } from '@pipeline/engine';
import { findWorkerScope, revokeWorkerToken } from '@pipeline/store';
import { until } from '@pipeline/testing';
import { makeTenant, makeToken, NO_LIMITS, register, testHosted } from '../support/hosted.ts';

const clock = { now: new Date() };
const hosting = testHosted({ now: () => clock.now });
const { database } = hosting;

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
  ])('is required when there is %s', async (_what, authorization) => {
    expect(await answerTo(authorization)).toEqual([401, 'AUTH_REQUIRED', 'Bearer']);
  });

  test.each([
    ['of another kind', `Bearer mcp_at_${'a'.repeat(43)}`],
    ['that is unknown', `Bearer wrk_at_${'a'.repeat(43)}`],
    ['with characters that no token has', `Bearer wrk_at_${'a'.repeat(40)}'--`],
  ])('%s is refused', async (_what, authorization) => {
    expect(await answerTo(authorization)).toEqual([401, 'AUTH_FAILED', 'Bearer error="invalid_token"']);
  });

  test('of another kind is refused with the prefix of the right one', async () => {
    const { body } = await hosting.api.post('/api/worker/claim', {}, { token: 'mcp_at_abcdefghijklmnop' });
    expect(body.error).toContain('wrk_at_');
  });

  test('is understood whatever the case of the scheme', async () => {
    const { token } = await makeTenant(hosting.api);
    expect((await answerTo(`bearer ${token}`)).slice(0, 2)).toEqual([400, 'INVALID_BODY']);
  });

  test('that is revoked is refused within two seconds', async () => {
    const { token } = await makeTenant(hosting.api);
    await register(hosting.api, token);
    const scope = await findWorkerScope(database.store.tenant, hashToken(token));
    await revokeWorkerToken(database.store.tenant, scope?.tokenId ?? '');
    clock.now = new Date(clock.now.getTime() + 2_001);
    expect((await answerTo(`Bearer ${token}`))[1]).toBe('AUTH_FAILED');
  });

  test('costs one look-up in two seconds', async () => {
    const statements: string[] = [];
    const store = hosting.open({ onStatement: (_pool, text) => statements.push(text) });
    const api = await hosting.start({ store, now: () => clock.now });
    const { token } = await makeTenant(hosting.api);
    await Promise.all([1, 2, 3].map(() => register(api, token)));
    expect(statements.filter((text) => /from "worker_tokens"/.test(text))).toHaveLength(1);
  });

  test('is refused with 401 when it has expired, within two seconds', async () => {
    const { id } = await makeTenant(hosting.api);
    const start = new Date('2030-01-01T00:00:00Z');
    database.clock.now = start;
    const token = await makeToken(database.store, id, null, '2030-01-01T01:00:00Z');
    await register(hosting.api, token);
    database.clock.now = new Date('2030-01-01T01:00:00Z');
    clock.now = new Date(clock.now.getTime() + 2_001);
    expect(await answerTo(`Bearer ${token}`)).toEqual([401, 'AUTH_FAILED', 'Bearer error="invalid_token"']);
  });

  test('has its last use recorded once a minute when it is used all the time', async () => {
    const { id } = await makeTenant(hosting.api);
    const statements: string[] = [];
    const store = hosting.open({ onStatement: (_pool, text) => statements.push(text) });
    const api = await hosting.start({ store, now: () => clock.now });
    const token = await makeToken(database.store, id, null);
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
