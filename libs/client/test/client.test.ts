import { describe, expect, test } from '@jest/globals';
import { clientCredentials, createHostedClient, createMonitorClient, PipelineError } from '../src/index.ts';
import { aServer, broken, json, refusal } from './a-server.ts';

const server = aServer();

interface Ops {
  searchIssues: { query?: { state?: string; limit?: number }; result: { items: { n: number }[] } };
  listAudit: { query?: { limit?: number }; result: { items: number[] } };
  pauseIssue: { params: { owner: string; repo: string; issue: number }; body?: { reason?: string }; result: unknown };
  getHealth: { result: unknown };
}

const monitor = (more: object = {}) => createMonitorClient<Ops>({ url: `${server.at.url}/`, ...more });
const NOW = { 'retry-after': '0' };

const failureOf = (call: Promise<unknown>): Promise<PipelineError> =>
  call.then(
    () => Promise.reject(new Error('it succeeded')),
    (error: unknown) => error as PipelineError,
  );

describe('a call', () => {
  test('fills in path, query and body, and returns the parsed response', async () => {
    server.answers(json(200, { ok: true }));
    const params = { owner: 'acme', repo: 'a b/c', issue: 42 };
    expect(await monitor().pauseIssue({ params, body: { reason: 'later' } })).toEqual({ ok: true });
    const [{ method, url, body, headers }] = server.seen as [(typeof server.seen)[0]];
    expect([method, url, body]).toEqual(['POST', '/api/issues/acme/a%20b%2Fc/42/pause', '{"reason":"later"}']);
    expect(headers).toMatchObject({ 'content-type': 'application/json', accept: 'application/json' });
  });

  test('names a parameter of the path that is missing, and sends nothing', async () => {
    const call = monitor().pauseIssue({ params: { owner: 'acme', repo: '' } as never });
    await expect(call).rejects.toThrow('params.repo is missing');
    expect(server.seen).toEqual([]);
  });

  test('throws the error of the service when it refuses', async () => {
    server.answers(refusal(404, 'ISSUE_NOT_FOUND'));
    const error = await failureOf(monitor().getHealth());
    expect(error).toBeInstanceOf(PipelineError);
    const { status, code, message, requestId } = error;
    expect({ status, code, message, requestId }).toEqual({
      status: 404,
      code: 'ISSUE_NOT_FOUND',
      message: 'refused with ISSUE_NOT_FOUND',
      requestId: 'req-1',
    });
  });

  test('throws for a response of a proxy that is not JSON', async () => {
    server.answers((_request, response) => void response.writeHead(413).end('<html>'));
    expect(await failureOf(monitor().getHealth())).toMatchObject({ status: 413, code: null, body: '<html>' });
  });

  test('ends with its signal, and sends no retry then', async () => {
    const abort = new AbortController();
    server.answers((_request, response) => {
      abort.abort(new Error('enough'));
      response.writeHead(503, { 'retry-after': '30' }).end();
    });
    await expect(monitor().getHealth({}, { signal: abort.signal })).rejects.toThrow('enough');
    expect(server.seen).toHaveLength(1);
  });

  test('ends after the configured time', async () => {
    server.answers(() => undefined);
    await expect(monitor({ timeoutMs: 50, retries: 0 }).getHealth()).rejects.toThrow(/timeout/i);
  });
});

describe('a request that was not executed', () => {
  const pause = () => monitor().pauseIssue({ params: { owner: 'acme', repo: 'shop', issue: 1 } });

  test('sends any request again after 429', async () => {
    server.answers(refusal(429, 'RATE_LIMITED', NOW), json(200, 1));
    expect(await pause()).toBe(1);
  });

  test.each([502, 503, 504])('sends a read again after %i', async (status) => {
    server.answers(refusal(status, 'STORE_UNAVAILABLE', NOW), json(200, 1));
    expect(await monitor().getHealth()).toBe(1);
  });

  test('does not send a write again after 503 or a broken connection', async () => {
    server.answers(refusal(503, 'STORE_UNAVAILABLE', NOW), json(200, 1));
    expect(await failureOf(pause())).toMatchObject({ status: 503 });
    server.answers(broken, json(200, 1));
    await expect(pause()).rejects.toThrow('fetch failed');
  });

  test('sends a read again after a broken connection', async () => {
    server.answers(broken, json(200, 1));
    expect(await monitor().getHealth()).toBe(1);
  });

  test('sends a request three times more at most, and not after a wait that is too long', async () => {
    server.answers(refusal(429, 'RATE_LIMITED', NOW));
    expect(await failureOf(pause())).toMatchObject({ code: 'RATE_LIMITED', retryAfterMs: 0 });
    expect(server.seen).toHaveLength(4);
    server.answers(refusal(429, 'RATE_LIMITED', { 'retry-after': '61' }));
    expect(await failureOf(pause())).toMatchObject({ retryAfterMs: 61_000 });
    expect(server.seen).toHaveLength(5);
  });
});

describe('a list', () => {
  test('a list by offset yields the items of all pages', async () => {
    const page = (offset: number, hasMore: boolean) =>
      json(200, { items: [{ n: offset }, { n: offset + 1 }], page: { offset, hasMore } });
    server.answers(page(0, true), page(2, true), page(4, false));
    const found = [];
    for await (const { n } of monitor().all('searchIssues', { query: { state: 'open' } })) found.push(n);
    expect(found).toEqual([0, 1, 2, 3, 4, 5]);
    expect(server.seen.map(({ url }) => url)).toEqual([
      ...['/api/issues?state=open', '/api/issues?state=open&offset=2', '/api/issues?state=open&offset=4'],
    ]);
  });

  test('a list by cursor yields the items of all pages', async () => {
    server.answers(json(200, { items: [1], next: 'c/1' }), json(200, { items: [2], next: null }));
    const found = [];
    for await (const item of monitor().all('listAudit')) found.push(item);
    expect(found).toEqual([1, 2]);
    expect(server.seen.map(({ url }) => url)).toEqual(['/api/audit', '/api/audit?after=c%2F1']);
  });

  test('ends when a page is empty, whatever its hasMore is', async () => {
    server.answers(json(200, { items: [], page: { offset: 0, hasMore: true } }));
    const found = [];
    for await (const item of monitor().all('searchIssues')) found.push(item);
    expect([found, server.seen.length]).toEqual([[], 1]);
  });
});

describe('credentials', () => {
  test('sends those of an operator as Basic, in UTF-8', async () => {
    server.answers(json(200, 1));
    await monitor({ username: 'olga', password: 'pä:ss' }).getHealth();
    const sent = String(server.seen[0]?.headers.authorization).split(' ')[1] ?? '';
    expect(Buffer.from(sent, 'base64').toString()).toBe('olga:pä:ss');
  });

  test('exchanges those of a client once for concurrent calls, and again when the token is refused', async () => {
    const issue = (token: string) => json(200, { access_token: token, expires_in: 600 });
    const { url } = server.at;
    const token = clientCredentials({ url, clientId: 'ci_1', clientSecret: 'a&b' });
    const hosted = createHostedClient<Ops>({ url, token });
    server.answers(issue('t1'), json(200, 1));
    await Promise.all([hosted.getHealth(), hosted.getHealth()]);
    expect(server.seen.map(({ headers }) => headers.authorization)).toEqual([undefined, 'Bearer t1', 'Bearer t1']);
    expect(server.seen[0]?.body).toBe('grant_type=client_credentials&client_id=ci_1&client_secret=a%26b');
    server.answers(refusal(401, 'AUTH_FAILED'), issue('t2'), json(200, 2));
    expect(await hosted.getHealth()).toBe(2);
    server.answers(refusal(401, 'AUTH_FAILED'), issue('t3'), refusal(401, 'AUTH_FAILED'));
    expect(await failureOf(hosted.getHealth())).toMatchObject({ status: 401 });
  });

  test('throws when those of a client are refused, and tries again with the next call', async () => {
    const { url } = server.at;
    const hosted = createHostedClient<Ops>({
      url,
      token: clientCredentials({ url, clientId: 'x', clientSecret: 'y' }),
    });
    server.answers(json(401, { error: 'invalid_client', error_description: 'client authentication failed' }));
    const error = await failureOf(hosted.getHealth());
    expect(error).toMatchObject({
      status: 401,
      code: 'invalid_client',
      message: 'no access token: client authentication failed',
    });
    server.answers(json(200, { access_token: 't', expires_in: 600 }), json(200, 1));
    expect(await hosted.getHealth()).toBe(1);
  });
});

describe('a watch', () => {
  test('yields a result and each that differs, and sends the ETag of the last one', async () => {
    const tagged = (n: number, tag: string) => json(200, { items: [{ n }] }, { etag: tag });
    const unchanged: Parameters<typeof server.answers>[0] = (_request, response) => void response.writeHead(304).end();
    server.answers(tagged(1, '"a"'), unchanged, tagged(1, '"b"'), tagged(2, '"c"'));
    const hosted = createHostedClient<{ listIssues: { query: { repo: string }; result: { items: { n: number }[] } } }>({
      url: server.at.url,
    });
    const found = [];
    for await (const { items } of hosted.watch('listIssues', { query: { repo: 'acme/shop' } }, { everyMs: 1 })) {
      found.push(items[0]?.n);
      if (found.length === 2) break;
    }
    expect(found).toEqual([1, 2]);
    expect(server.seen.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, '"a"', '"a"', '"b"']);
  });

  test('ends when its signal aborts, and throws when the service refuses', async () => {
    const hosted = createHostedClient<Ops>({ url: server.at.url });
    server.answers(json(200, 1));
    const abort = new AbortController();
    const found = [];
    for await (const one of hosted.watch('getHealth', {}, { everyMs: 60_000, signal: abort.signal })) {
      found.push(one);
      abort.abort();
    }
    expect(found).toEqual([1]);
    server.answers(refusal(404, 'REPO_NOT_FOUND'));
    await expect(hosted.watch('getHealth').next()).rejects.toMatchObject({ code: 'REPO_NOT_FOUND' });
  });
});

describe('a tool', () => {
  const hosted = () => createHostedClient<Ops>({ url: server.at.url });
  const result = { structuredContent: { usd: 1 } };

  test.each([
    ['JSON', json(200, { jsonrpc: '2.0', id: 1, result })],
    [
      'an event stream',
      ((_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', id: 1, result })}\n\n`);
      }) satisfies Parameters<typeof server.answers>[0],
    ],
  ])('returns its structured content from %s', async (_, answer) => {
    server.answers(answer);
    expect(await hosted().callTool('get_cost_summary', { repo: 'acme/shop' })).toEqual({ usd: 1 });
    expect(JSON.parse(server.seen[0]?.body ?? '')).toMatchObject({
      method: 'tools/call',
      params: { name: 'get_cost_summary', arguments: { repo: 'acme/shop' } },
    });
  });

  test('throws the code of a refusal', async () => {
    const content = [{ type: 'text', text: 'REPO_NOT_FOUND: no access' }];
    server.answers(json(200, { jsonrpc: '2.0', id: 1, result: { isError: true, content } }));
    await expect(hosted().callTool('x')).rejects.toMatchObject({ code: 'REPO_NOT_FOUND', message: 'no access' });
    server.answers(json(200, { jsonrpc: '2.0', id: 1, error: { code: -32602, message: 'no such tool' } }));
    await expect(hosted().callTool('x')).rejects.toMatchObject({ code: null, message: 'no such tool' });
  });
});
