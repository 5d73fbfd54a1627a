import { beforeAll, describe, expect, test } from '@jest/globals';
import { read } from '../reads/readers.ts';
import { type Minted, mintConnection } from '../support/connections.ts';
import { type Hosted, makeTenant, NO_LIMITS } from '../support/hosted.ts';
import { hosting } from './hosting.ts';

describe('limits of requests', () => {
  let ann: Minted;
  let bob: Minted;
  let carl: Minted;

  beforeAll(async () => {
    const [acme, other] = [await makeTenant(hosting.api), await makeTenant(hosting.api)];
    const { owner: store } = hosting.database;
    ann = await mintConnection(store, { tenantId: acme.id, role: 'owner' });
    bob = await mintConnection(store, { tenantId: acme.id, role: 'admin' });
    carl = await mintConnection(store, { tenantId: other.id, role: 'owner' });
  });

  const ask = (api: Hosted, { token }: { token: string }) => read(api, '/api/cli/bootstrap', token);
  const statuses = async (api: Hosted, who: Minted[]) => {
    const answers = [];
    for (const one of who) answers.push((await ask(api, one)).status);
    return answers;
  };

  test('a connection has its number of requests a minute, whatever the others do', async () => {
    const api = await hosting.start({ limits: { ...NO_LIMITS, connection: 2 } });
    expect(await statuses(api, [ann, ann, ann, bob, carl])).toEqual([200, 200, 429, 200, 200]);
    const { body, headers } = await ask(api, ann);
    expect(body).toMatchObject({ code: 'RATE_LIMITED', status: 429 });
    expect(headers.get('ratelimit')).toMatch(/^"connection";r=0;t=\d+$/);
    expect(headers.get('ratelimit-policy')).toBe('"connection";q=2;w=60');
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  });

  test('an organisation has its number, which its connections share', async () => {
    const api = await hosting.start({ limits: { ...NO_LIMITS, connection: 10, org: 3 } });
    const { headers } = await ask(api, ann);
    expect(headers.get('ratelimit')).toMatch(/^"connection";r=9;t=\d+, "org";r=2;t=\d+$/);
    expect(headers.get('ratelimit-policy')).toBe('"connection";q=10;w=60, "org";q=3;w=60');
    expect(await statuses(api, [bob, ann, bob, ann, carl])).toEqual([200, 200, 429, 429, 200]);
  });

  test('an address has its number, good credentials or not', async () => {
    const api = await hosting.start({ limits: { ...NO_LIMITS, address: 3 } });
    expect(await statuses(api, [{ ...ann, token: 'bad' }, { ...ann, token: 'bad' }, ann, ann])).toEqual([
      401, 401, 200, 429,
    ]);
  });

  test('zero is no limit', async () => {
    const { headers } = await ask(hosting.api, ann);
    expect(headers.get('ratelimit')).toBeNull();
  });

  test.each([
    ['URL', `/api/cli/issues?repo=${'a'.repeat(9_000)}`, {}],
    ['head', '/api/cli/bootstrap', { 'x-filler': 'a'.repeat(17_000) }],
  ])('a %s that is too long is refused', async (_what, path, headers) => {
    const { status, body } = await read(hosting.api, path, ann.token, headers);
    expect([status, body.code]).toEqual([400, 'INVALID_INPUT']);
  });
});
