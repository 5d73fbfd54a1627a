import { expect, test } from '@jest/globals';
import { testDatabase } from '@pipeline/testing';
import { EventFeed } from '../../src/stream/event-feed.ts';
import { RawStream } from '../stream/stream-client.ts';
import { makeBench } from '../support/bench.ts';
import { authOf, OLGA, serveApp } from '../support/served-app.ts';

const database = testDatabase();
const ADDRESSES = ['2001:db8:7::1', '2001:db8:7::2', '2001:db8:7:0:ffff::3'];

test('failed logins count the addresses of a /64 together', async () => {
  const { call, close } = await serveApp({ auth: authOf([OLGA]), trustedProxies: 1 });
  const attempt = async (address: string, n: number) =>
    (
      await call('POST', '/api/auth/login', {
        body: { username: `u${n}`, password: 'no' },
        headers: { 'x-forwarded-for': address },
      })
    ).status;
  // Three times the limit of one name, over all names.
  for (let n = 0; n < 30; n += 1) expect(await attempt(ADDRESSES[n % 2] ?? '', n)).toBe(401);
  expect(await attempt(ADDRESSES[2] ?? '', 30)).toBe(429);
  expect(await attempt('2001:db8:7:1::1', 31)).toBe(401);
  await close();
});

test('streams of an open monitor count the addresses of a /64 together', async () => {
  const { engine } = await makeBench(database.store, 'acme/shop');
  const feed = new EventFeed({ store: database.store, uptime: () => 1, now: () => new Date() });
  await feed.tick();
  const storeWatch = { isConnected: true } as never;
  const { url, close } = await serveApp({
    pipeline: { engine, storeWatch, feed },
    trustedProxies: 1,
    streamLimits: { perCredential: 2, inAll: 0 },
  });
  const open = (address: string) => RawStream.open(`${url}/api/events`, { 'x-forwarded-for': address });
  await open(ADDRESSES[0] ?? '');
  await open(ADDRESSES[1] ?? '');
  await expect(open(ADDRESSES[2] ?? '')).rejects.toThrow('429');
  await open('2001:db8:7:1::1');
  feed.close();
  await close();
});
