import { expect, test } from '@jest/globals';
import { NO_LIMITS, OAUTH, testHosted } from './hosted.ts';

const limits = { logins: 2, registrations: 2, tokens: 2 };
const hosting = testHosted({
  trustedProxies: 1,
  oauth: { ...OAUTH, limits },
  limits: { ...NO_LIMITS, address: 1_000 },
});

const ADDRESSES = ['2001:db8:7::1', '2001:db8:7::2', '2001:db8:7:0:ffff::3'];

test.each(['/oauth/token', '/oauth/register'])('%s counts the addresses of a /64 together', async (path) => {
  const statuses: boolean[] = [];
  for (const address of [...ADDRESSES, '2001:db8:7:1::1']) {
    const headers = { 'content-type': 'application/json', 'x-forwarded-for': address };
    const answer = await hosting.api.fetch(hosting.api.url + path, { method: 'POST', headers, body: '{}' });
    statuses.push(answer.status === 429);
  }
  expect(statuses).toEqual([false, false, true, false]);
});

test('logins count the addresses of a /64 together', async () => {
  const { logins } = hosting.api.context.oauth;
  await logins.attempt(ADDRESSES[0] ?? '', 'a@example.org');
  await logins.attempt(ADDRESSES[1] ?? '', 'b@example.org');
  await expect(logins.attempt(ADDRESSES[2] ?? '', 'c@example.org')).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  await logins.attempt('2001:db8:7:1::1', 'd@example.org');
});
