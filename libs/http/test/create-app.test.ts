import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { serveSample } from './sample.ts';

let sample: Awaited<ReturnType<typeof serveSample>>;
beforeAll(async () => {
  sample = await serveSample();
});
afterAll(() => sample.close());

const post = (path: string, body: string | object, init: RequestInit & { auth?: string } = {}) =>
  sample.call(path, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body), ...init });

const errorOf = async (answer: Response | Promise<Response>) => {
  const { error, code, status } = (await (await answer).json()) as { error: string; code: string; status: number };
  return [status, code, error];
};

describe('an answer', () => {
  test('sends the handler’s answer, with the content type of its declaration', async () => {
    const page = await sample.call('/odd/a/b%2Fc');
    expect([page.status, await page.text(), page.headers.get('x-own')]).toEqual([200, '<p>a/b/c</p>', 'yes']);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const stored = await sample.call('/odd/stored');
    expect([stored.status, await stored.json()]).toEqual([202, { stored: true }]);
    const nothing = await sample.call('/odd/nothing');
    expect([nothing.status, nothing.headers.get('content-type'), nothing.headers.get('content-length')]).toEqual([
      204,
      null,
      null,
    ]);
  });

  test('carries security headers and neither powered-by nor etag', async () => {
    const { headers } = await sample.call('/health', { auth: '' });
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('cache-control')).toBe('no-store');
    expect([headers.get('x-powered-by'), headers.get('etag')]).toEqual([null, null]);
  });

  test('answers HEAD with the head of GET and no body', async () => {
    const answer = await sample.call('/health', { method: 'HEAD', auth: '' });
    expect([answer.status, Number(answer.headers.get('content-length')) > 0, await answer.text()]).toEqual([
      200,
      true,
      '',
    ]);
  });

  test('comes with the request id that was sent, if it is short and plain', async () => {
    const idFor = async (sent: string) =>
      (await sample.call('/health', { headers: { 'x-request-id': sent } })).headers.get('x-request-id');
    expect(await idFor('trace-1')).toBe('trace-1');
    expect(await idFor('has space')).toMatch(/^[0-9a-f-]{36}$/);
    expect(await idFor('x'.repeat(129))).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('the order of the stages', () => {
  test('credentials come before everything else that is wrong', async () => {
    const wrong = { auth: '' };
    expect(await errorOf(post('/api/things/x/move', '{', wrong))).toEqual([
      401,
      'AUTH_REQUIRED',
      'Authentication required',
    ]);
    expect(await errorOf(sample.call('/api/nothing', wrong))).toEqual([
      401,
      'AUTH_REQUIRED',
      'Authentication required',
    ]);
    expect(await errorOf(sample.call('/api/things', { auth: 'Basic bad' }))).toEqual([
      401,
      'AUTH_FAILED',
      'Authentication failed',
    ]);
    expect((await sample.call('/api/nothing', wrong)).headers.get('www-authenticate')).toBeNull();
  });

  test('path, then JSON, then fields in their order, then the handler', async () => {
    expect(await errorOf(post('/api/things/x/move', '{'))).toEqual([
      400,
      'INVALID_ISSUE_NUMBER',
      'Invalid issue number',
    ]);
    expect(await errorOf(post('/api/things/1/move', '{'))).toEqual([400, 'INVALID_JSON', 'Invalid JSON body']);
    expect(await errorOf(post('/api/things/1/move', {}))).toEqual([400, 'INVALID_STATE', 'to is required']);
    expect(await errorOf(post('/api/things/1/move', { to: 'a' }))).toEqual([400, 'INVALID_BODY', 'reason is required']);
    expect(await errorOf(post('/api/things/1/move', { to: 'a', reason: ' ' }))).toEqual([
      400,
      'INVALID_BODY',
      'reason: must not be blank',
    ]);
    expect((await post('/api/things/1/move', { to: 'a', reason: 'b' })).status).toBe(200);
  });

  test('reports a missing store after checking the path and before the body', async () => {
    const without = await serveSample({ storeReady: () => false });
    const ask = (path: string, body = '{') => errorOf(without.call(path, { method: 'POST', body }));
    expect(await ask('/api/things/x/move')).toEqual([400, 'INVALID_ISSUE_NUMBER', 'Invalid issue number']);
    expect(await ask('/api/things/1/move')).toEqual([503, 'STORE_UNAVAILABLE', 'Pipeline store not available']);
    const refused = await without.call('/api/things/1/move', { method: 'POST', body: '{}' });
    expect(refused.headers.get('retry-after')).toBe('2');
    expect((await without.call('/api/things/one')).status).toBe(200);
    await without.close();
  });
});

describe('a path that nothing serves', () => {
  test.each([
    ['GET', '/api/nothing'],
    ['DELETE', '/api/things/one'],
    ['POST', '/api/openapi.json'],
    ['GET', '/api/things/'],
    ['GET', '/API/things'],
    ['OPTIONS', '/api/things'],
    ['GET', '/elsewhere'],
  ])('%s %s answers 404 No matching route', async (method, path) => {
    expect(await errorOf(sample.call(path, { method }))).toEqual([404, 'NOT_FOUND', 'No matching route']);
  });

  test('outside the API needs no credentials, inside it does', async () => {
    expect(await errorOf(sample.call('/elsewhere', { auth: '' }))).toEqual([404, 'NOT_FOUND', 'No matching route']);
    expect((await sample.call('/odd', { auth: '' })).status).toBe(401);
  });

  test('answers a path of a family as the family does', async () => {
    const expected = [400, 'INVALID_INPUT', 'Expected /api/timeline/:owner/:repo/:issue'];
    expect(await errorOf(sample.call('/api/timeline/a/b'))).toEqual(expected);
    expect(await errorOf(sample.call('/api/timeline/a/%ZZ/1'))).toEqual(expected);
    expect(await errorOf(sample.call('/api/timeline/a/b', { method: 'POST' }))).toEqual([
      404,
      'NOT_FOUND',
      'No matching route',
    ]);
  });

  test('refuses a path with a malformed escape after the credentials', async () => {
    expect((await sample.call('/api/things/%E0%A4%A/move', { auth: '' })).status).toBe(401);
    expect(await errorOf(sample.call('/api/things/%ZZ/move', { method: 'POST' }))).toEqual([
      400,
      'INVALID_INPUT',
      'Malformed percent-encoding in the path',
    ]);
  });
});

describe('input', () => {
  test('a limit out of range is clamped, one that is no number is refused', async () => {
    const page = async (query: string) => (await sample.call(`/api/things${query}`)).json();
    expect(await page('')).toEqual({ limit: 10, offset: 0, q: null });
    expect(await page('?limit=999&offset=-5&q=%zz&other=1')).toEqual({ limit: 50, offset: 0, q: '%zz' });
    expect(await errorOf(sample.call('/api/things?limit=ten'))).toEqual([
      400,
      'INVALID_INPUT',
      'limit: must be a whole number',
    ]);
    expect((await sample.call('/api/things?limit=1&limit=2')).status).toBe(400);
  });

  test('a URL longer than 8 KiB is refused', async () => {
    expect(await errorOf(sample.call(`/api/things?q=${'x'.repeat(8_200)}`))).toEqual([
      400,
      'INVALID_INPUT',
      'URL longer than 8192 bytes',
    ]);
  });

  test('a body over the limit of its route is refused, with or without a length', async () => {
    const big = JSON.stringify({ to: 'x'.repeat(1_000), reason: 'y' });
    const chunked = { body: new Blob([big]).stream(), duplex: 'half' } as RequestInit;
    for (const answer of [await post('/api/things/1/move', big), await post('/api/things/1/move', '', chunked)]) {
      expect(await errorOf(answer)).toEqual([413, 'PAYLOAD_TOO_LARGE', 'Request body larger than 1000 bytes']);
      expect(answer.headers.get('connection')).toBe('close');
    }
  });

  test('a body that is not UTF-8 is no JSON', async () => {
    const body = Buffer.from('{"to":"\xff","reason":"b"}', 'latin1');
    expect((await errorOf(post('/api/things/1/move', '', { body })))[1]).toBe('INVALID_JSON');
  });

  test('an absent body counts as an empty object where the route allows it', async () => {
    expect(await (await sample.call('/api/optional', { method: 'POST' })).json()).toEqual({ by: 'operator test' });
    expect(await (await post('/api/optional', { by: 'me' })).json()).toEqual({ by: 'me test' });
    expect((await errorOf(sample.call('/api/things/1/move', { method: 'POST' })))[1]).toBe('INVALID_JSON');
  });

  test('the content type matters only on a surface that asks for it', async () => {
    const headers = { 'content-type': 'text/plain' };
    const body = { to: 'a', reason: 'b' };
    expect((await post('/api/things/1/move', body, { headers })).status).toBe(200);
    const { surface } = await import('./sample.ts');
    const strict = await serveSample({ surface: { ...surface, requireJsonType: true } });
    const send = (type: string) =>
      fetch(`${strict.url}/api/things/1/move`, {
        method: 'POST',
        headers: { authorization: 'Basic good', 'content-type': type },
        body: JSON.stringify(body),
      });
    expect(await errorOf(send('text/plain'))).toEqual([
      415,
      'UNSUPPORTED_MEDIA_TYPE',
      'Content-Type must be application/json',
    ]);
    expect((await send('application/json; charset=utf-8')).status).toBe(200);
    await strict.close();
  });

  test('a raw body reaches the handler as the bytes that were sent', async () => {
    expect(await (await post('/hooks', '{"a": 1 }', { auth: '' })).json()).toEqual({ bytes: 9 });
  });
});
