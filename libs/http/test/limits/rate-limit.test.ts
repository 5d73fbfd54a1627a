import { describe, expect, test } from '@jest/globals';
import { createRateLimiter } from '../../src/index.ts';
import { serveSample } from '../sample.ts';

const limiter = (limit: number) => createRateLimiter({ name: 'test', limit, windowSeconds: 60 });

describe('a rate limit', () => {
  test('reports what is left, then refuses with the time to wait', async () => {
    const sample = await serveSample({ limits: { routes: { thingOne: limiter(2) } } });
    const first = await sample.call('/api/things/one');
    expect(first.headers.get('ratelimit')).toBe('"test";r=1;t=60');
    expect(first.headers.get('ratelimit-policy')).toBe('"test";q=2;w=60');
    await sample.call('/api/things/one');
    const refused = await sample.call('/api/things/one');
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({ code: 'RATE_LIMITED', status: 429 });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(refused.headers.get('ratelimit')).toMatch(/^"test";r=0;/);
    expect((await sample.call('/api/things')).status).toBe(200);
    await sample.close();
  });

  test('per route and address comes before the credentials are looked at', async () => {
    const sample = await serveSample({ limits: { routes: { thingOne: limiter(1) } } });
    await sample.call('/api/things/one', { auth: 'Basic bad' });
    expect((await sample.call('/api/things/one', { auth: 'Basic bad' })).status).toBe(429);
    await sample.close();
  });

  test('per credential counts each known credential, on all routes together', async () => {
    const sample = await serveSample({ limits: { identity: { operator: limiter(2) } } });
    await sample.call('/api/things/one');
    await sample.call('/api/things');
    expect((await sample.call('/api/things/one')).status).toBe(429);
    expect((await sample.call('/api/things/one', { auth: 'Basic bad' })).status).toBe(401);
    await sample.close();
  });

  test('a limit of an address covers unknown paths too', async () => {
    const sample = await serveSample({ limits: { address: limiter(1) } });
    await sample.call('/health');
    expect((await sample.call('/elsewhere')).status).toBe(429);
    await sample.close();
  });

  test('a rate of 0 means no limit', async () => {
    const fields = await Promise.all(Array.from({ length: 50 }, () => limiter(0).take('k')));
    expect(fields.every((one) => Object.keys(one).length === 0)).toBe(true);
  });
});
