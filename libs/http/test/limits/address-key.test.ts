import { describe, expect, test } from '@jest/globals';
import { addressKey, createRateLimiter } from '../../src/index.ts';
import { serveSample } from '../sample.ts';

describe('an address counts', () => {
  test.each([
    ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
    ['2001:db8:1:3::1', '2001:db8:1:3::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['[2001:db8:1:2::9]:443', '2001:db8:1:2::/64'],
    ['192.0.2.7', '192.0.2.7'],
    ['192.0.2.7:1234', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['::ffff:c000:207', '192.0.2.7'],
    ['unknown', 'unknown'],
    ['x'.repeat(100), 'x'.repeat(64)],
  ])('%s as %s', (address, key) => {
    expect(addressKey(address)).toBe(key);
  });
});

test('the limits of the stages count a /64 as one caller', async () => {
  const limiter = () => createRateLimiter({ name: 'test', limit: 2, windowSeconds: 60 });
  const sample = await serveSample({
    trustProxy: 1,
    limits: {
      address: limiter(),
      routes: { thingOne: createRateLimiter({ name: 'own', limit: 1, windowSeconds: 60 }) },
    },
  });
  const from = async (path: string, address: string) =>
    (await sample.call(path, { headers: { 'x-forwarded-for': address } })).status;
  expect(await from('/health', '2001:db8::1')).toBe(200);
  expect(await from('/health', '2001:db8::2')).toBe(200);
  expect(await from('/health', '2001:db8::3')).toBe(429);
  expect(await from('/health', '2001:db8:0:1::3')).toBe(200);
  expect(await from('/api/things/one', '192.0.2.1')).toBe(200);
  expect(await from('/api/things/one', '::ffff:192.0.2.1')).toBe(429);
  await sample.close();
});
