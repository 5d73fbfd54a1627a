import { beforeAll, describe, expect, test } from '@jest/globals';
import { type Hosted, NO_LIMITS, OAUTH } from '../support/hosted.ts';
import { hosting } from './hosting.ts';

describe('limits of addresses', () => {
  const limits = { logins: 2, registrations: 2, tokens: 2 };
  let api: Hosted;
  beforeAll(async () => {
    api = await hosting.start({
      trustedProxies: 1,
      oauth: { ...OAUTH, limits },
      limits: { ...NO_LIMITS, address: 1_000 },
    });
  });

  const ADDRESSES = ['2001:db8:7::1', '2001:db8:7::2', '2001:db8:7:0:ffff::3'];

  test.each(['/oauth/token', '/oauth/register'])('%s counts the addresses of a /64 together', async (path) => {
    const statuses: boolean[] = [];
    for (const address of [...ADDRESSES, '2001:db8:7:1::1']) {
      const headers = { 'content-type': 'application/json', 'x-forwarded-for': address };
      const answer = await api.fetch(api.url + path, { method: 'POST', headers, body: '{}' });
      statuses.push(answer.status === 429);
    }
    expect(statuses).toEqual([false, false, true, false]);
  });

  test('logins count the addresses of a /64 together', async () => {
    const { logins } = api.context.oauth;
    const fail = (address: string, n: number) =>
      logins.attempt({ address, name: `user-${n}@example.org` }, async () => null);
    // Three times the limit of one name, over all names.
    for (let n = 0; n < 6; n += 1) expect(await fail(ADDRESSES[n % 2] ?? '', n)).toBeNull();
    await expect(fail(ADDRESSES[2] ?? '', 6)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    expect(await fail('2001:db8:7:1::1', 7)).toBeNull();
  });
});
