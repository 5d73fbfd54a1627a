import type { RequestListener } from 'node:http';
import { afterEach, expect, test } from '@jest/globals';
import { RawConnection } from '@pipeline/testing/raw-connection';
import { until } from '@pipeline/testing/until';
import { listen } from '../../src/index.ts';
import { REQUEST_TIMEOUTS } from '../../src/server/timeouts.ts';

const FAST = { headMs: 60, requestMs: 120, checkMs: 20 };

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp();
});

async function open(app: RequestListener) {
  const { url, close } = await listen(app, { host: '127.0.0.1', port: 0, drainMs: 10, timeouts: FAST });
  cleanups.push(close);
  const raw = await RawConnection.open(url);
  cleanups.push(() => raw.close());
  return raw;
}

const closed = (raw: RawConnection) => until('the connection is closed', () => raw.isClosed);

test.each(['', 'GET / HTT', 'GET / HTTP/1.1\r\nhost: x\r\nx-slow: '])(
  'answers 408 and closes when the head stops after %j',
  async (sent) => {
    const raw = await open((_request, response) => response.end());
    raw.write(sent);
    const { status, body } = await raw.answer();
    expect([status, JSON.parse(body)]).toMatchObject([408, { code: 'REQUEST_TIMEOUT', status: 408 }]);
    await closed(raw);
  },
);

test('closes when a body that no handler reads does not end', async () => {
  const raw = await open((_request, response) => response.end('early'));
  raw.send('POST /', { 'content-length': '100' }, 'x');
  expect((await raw.answer()).status).toBe(200);
  await closed(raw);
});

test('closes without a second answer when one is in progress', async () => {
  const raw = await open((_request, response) => response.write('begun'));
  raw.send('POST /', { 'content-length': '100' }, 'x');
  await closed(raw);
  expect(raw.text).toContain('begun');
  expect(raw.text.match(/HTTP\/1\.1/g)).toHaveLength(1);
});

test('an answer may take longer than a request', async () => {
  let answer = () => {};
  const raw = await open((_request, response) => {
    answer = () => response.end('late');
  });
  raw.send('GET /');
  const late = await open((_request, response) => response.end());
  late.write('GET');
  // Opened later with the same limits, it has been cut: so the first one would have been.
  await closed(late);
  answer();
  expect((await raw.answer()).status).toBe(200);
});

test('the limits are far below what proxies wait, and the body has its own before the connection is cut', () => {
  const { headMs, bodyMs, requestMs, checkMs } = REQUEST_TIMEOUTS;
  expect(Math.max(headMs, bodyMs) + checkMs).toBeLessThan(requestMs);
  expect(requestMs + checkMs).toBeLessThanOrEqual(62_000);
});
