import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from '@jest/globals';
import { AppError } from '@pipeline/domain';
import { RawConnection } from '@pipeline/testing/raw-connection';
import { until } from '@pipeline/testing/until';
import { serveSample } from '../sample.ts';

const GOOD = { authorization: 'Basic good' };
const MOVE = { to: 'a', reason: 'b' };

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp();
});

async function serve(options: Parameters<typeof serveSample>[0] = {}) {
  const sample = await serveSample(options);
  cleanups.push(sample.close);
  return sample;
}

async function connection(url: string) {
  const opened = await RawConnection.open(url);
  cleanups.push(() => opened.close());
  return opened;
}

const codeOf = ({ status, body }: { status: number; body: string }) => [status, JSON.parse(body).code];

describe('a Content-Encoding', () => {
  test.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])('%s is decoded when the caller was authenticated', async (encoding, encode) => {
    const { call } = await serve();
    const body = new Uint8Array(encode(JSON.stringify(MOVE)));
    const answer = await call('/api/things/1/move', {
      method: 'POST',
      body,
      headers: { 'content-encoding': encoding },
    });
    expect([answer.status, await answer.json()]).toEqual([200, { id: '1', to: 'a' }]);
  });

  test.each([
    ['gzip', 'plain'],
    ['br', 'plain'],
    ['deflate', 'plain'],
    ['gzip', 'cut off'],
    ['br', 'cut off'],
  ])('%s over a body that is %s answers 400', async (encoding, what) => {
    const { call } = await serve();
    const encoded = encoding === 'br' ? brotliCompressSync(JSON.stringify(MOVE)) : gzipSync(JSON.stringify(MOVE));
    const body = what === 'plain' ? JSON.stringify(MOVE) : new Uint8Array(encoded.subarray(0, encoded.length - 6));
    const answer = await call('/api/things/1/move', {
      method: 'POST',
      body,
      headers: { 'content-encoding': encoding },
    });
    expect([answer.status, await answer.json()]).toMatchObject([400, { code: 'INVALID_INPUT' }]);
    // The connection is as good as before.
    expect((await call('/health')).status).toBe(200);
  });

  test.each(['compress', 'zstd', 'gzip, br', 'constructor'])('%s answers 415', async (encoding) => {
    const { call } = await serve();
    const init = { method: 'POST', body: JSON.stringify(MOVE), headers: { 'content-encoding': encoding } };
    const answer = await call('/api/things/1/move', init);
    expect([answer.status, await answer.json()]).toMatchObject([415, { code: 'UNSUPPORTED_MEDIA_TYPE' }]);
  });

  test('may not make a body larger than its route takes', async () => {
    const { call } = await serve();
    const body = new Uint8Array(gzipSync(JSON.stringify({ ...MOVE, reason: 'x'.repeat(1_000_000) })));
    const answer = await call('/api/things/1/move', { method: 'POST', body, headers: { 'content-encoding': 'gzip' } });
    expect(answer.status).toBe(413);
  });

  test.each(['gzip', 'br', 'deflate', 'x'])(
    '%s is refused unread when the caller was not authenticated',
    async (encoding) => {
      const { url } = await serve();
      const raw = await connection(url);
      raw.send('POST /hooks', { 'content-encoding': encoding, 'content-length': '51' });
      expect(codeOf(await raw.answer())).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
    },
  );
});

test('a signed body is not read when its head cannot be right', async () => {
  const requireSignature = ({ headers }: { headers: Record<string, unknown> }) => {
    if (!headers['x-signature']) throw new AppError('INVALID_SIGNATURE', '');
  };
  const { url } = await serve({ requireSignature });
  const raw = await connection(url);
  raw.send('POST /hooks', { 'content-length': '200000', 'content-encoding': 'br' });
  expect(codeOf(await raw.answer())).toEqual([401, 'INVALID_SIGNATURE']);
});

describe('the memory for bodies', () => {
  const memory = { signed: 200_000, authenticated: 200_000 };

  test('refuses a body that has no room with 503, and has room again after the others', async () => {
    const { url, call } = await serve({ bodies: { memory } });
    const holders = [await connection(url), await connection(url)];
    for (const one of holders) one.send('POST /hooks', { 'content-length': '45000' }, 'x'.repeat(44_000));
    const refused = async () => {
      const raw = await connection(url);
      raw.send('POST /hooks', { 'content-length': '45000' });
      return raw;
    };
    const statuses: number[] = [];
    await until('the memory is full', async () => {
      const raw = await refused();
      await until('it is answered or waits', () => raw.text !== '' || statuses.push(0) > 3);
      if (raw.text === '') return false;
      const answer = await raw.answer();
      expect(codeOf(answer)).toEqual([503, 'OVERLOADED']);
      expect([answer.headers.get('retry-after'), answer.headers.get('connection')]).toEqual(['5', 'close']);
      return true;
    });
    // Strangers use up what is theirs, nothing else.
    const init = { method: 'POST', body: JSON.stringify(MOVE) };
    expect((await call('/api/things/1/move', init)).status).toBe(200);
    for (const one of holders) one.write('x'.repeat(1_000));
    for (const one of holders) expect((await one.answer()).status).toBe(200);
    const after = await connection(url);
    after.send('POST /hooks', { 'content-length': '45000' }, 'x'.repeat(45_000));
    expect((await after.answer()).status).toBe(200);
  });

  test('one address leaves room for others when it sends bodies that it does not complete', async () => {
    const { url } = await serve({ bodies: { memory }, trustProxy: 1 });
    const half = async (address: string) => {
      const raw = await connection(url);
      raw.send('POST /hooks', { 'content-length': '45000', 'x-forwarded-for': address }, 'x'.repeat(44_000));
      return raw;
    };
    const holders = await Promise.all(Array.from({ length: 10 }, () => half('192.0.2.1')));
    await until('the share of the address is used', () => holders.some(({ text }) => text.includes(' 503 ')));
    const other = await half('192.0.2.2');
    other.write('x'.repeat(1_000));
    expect((await other.answer()).status).toBe(200);
  });

  test('releases the memory when a sender goes away', async () => {
    const { url } = await serve({ bodies: { memory } });
    for (let round = 0; round < 10; round += 1) {
      const raw = await connection(url);
      raw.send('POST /hooks', { 'content-length': '90000' }, 'x'.repeat(80_000));
      raw.abort();
    }
    await until('there is room for all of it', async () => {
      const raw = await connection(url);
      raw.send('POST /hooks', { 'content-length': '100000' }, 'x'.repeat(100_000));
      return (await raw.answer()).status === 200;
    });
  });

  test('holds also for bodies without a length, in chunks of one byte', async () => {
    const { url } = await serve({ bodies: { memory: { signed: 16_000 } } });
    const raw = await connection(url);
    raw.send('POST /hooks', { 'transfer-encoding': 'chunked' });
    raw.write('1\r\nx\r\n'.repeat(9_000));
    expect(codeOf(await raw.answer())).toEqual([503, 'OVERLOADED']);
  });
});

test('a body that does not arrive in time answers 408 and closes the connection', async () => {
  const { url } = await serve({ bodies: { timeoutMs: 50 } });
  const raw = await connection(url);
  raw.send('POST /api/things/1/move', { ...GOOD, 'content-length': '20' }, '{"to"');
  const answer = await raw.answer();
  expect(codeOf(answer)).toEqual([408, 'REQUEST_TIMEOUT']);
  await until('it is closed', () => raw.isClosed);
});
