import { describe, expect, test } from '@jest/globals';
import {
  claimTask,
  createClient,
  getHealth,
  listDeadLetters,
  receiveGithubWebhook,
  retryDeadLetter,
  UnexpectedAnswer,
} from '../../src/index.ts';

/** A client whose requests are kept and answered from here. */
function clientOf(status: number, body: unknown, headers: Record<string, string> = {}) {
  const sent: Request[] = [];
  const client = createClient({
    baseUrl: 'http://host/',
    headers: { authorization: 'Bearer t' },
    fetch: async (input, init) => {
      sent.push(new Request(input, init));
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      return new Response(status === 204 ? null : text, { status, headers });
    },
  });
  return { client, sent };
}

describe('the client', () => {
  test('fills path and query, sends JSON, and gives the answer by its status', async () => {
    const { client, sent } = clientOf(200, { ok: true, newState: 'planning' });
    const { status, body } = await client.call(retryDeadLetter, { params: { id: 'a/b' } });
    expect([status, body.newState]).toEqual([200, 'planning']);
    expect([sent[0]?.method, sent[0]?.url]).toEqual(['POST', 'http://host/api/dead-letters/a%2Fb/retry']);

    const page = clientOf(200, {
      items: [],
      page: { total: null, limit: 5, offset: 0, hasMore: false },
      polledAt: null,
    });
    await page.client.call(listDeadLetters, { query: { limit: 5 } });
    expect(page.sent[0]?.url).toBe('http://host/api/dead-letters?limit=5');
    expect(page.sent[0]?.headers.get('authorization')).toBe('Bearer t');
  });

  test('an answer without a body has none', async () => {
    const { client, sent } = clientOf(204, '');
    const answer = await client.call(claimTask, { body: { workerId: 'w', taskTypes: ['plan'] } });
    expect([answer.status, answer.body]).toEqual([204, undefined]);
    expect(await sent[0]?.json()).toEqual({ workerId: 'w', taskTypes: ['plan'] });
    expect(sent[0]?.headers.get('content-type')).toBe('application/json');
  });

  test('a raw body goes out as it is', async () => {
    const { client, sent } = clientOf(200, { ok: true, delivery: 'ignored' });
    await client.call(receiveGithubWebhook, { body: '{"a": 1 }' });
    expect(await sent[0]?.text()).toBe('{"a": 1 }');
  });

  test('an error answer is thrown with code, request id and the time to wait', async () => {
    const headers = { 'retry-after': '3', 'x-request-id': 'r-1' };
    const { client } = clientOf(429, { error: 'Too many', code: 'RATE_LIMITED', status: 429 }, headers);
    const call = client.call(getHealth, {});
    await expect(call).rejects.toMatchObject({
      name: 'ApiFailure',
      message: 'Too many',
      status: 429,
      code: 'RATE_LIMITED',
      requestId: 'r-1',
      retryAfterMs: 3_000,
    });
  });

  test.each([
    ['a page of a proxy', 502, '<html>'],
    ['an error without a code', 500, { message: 'x' }],
    ['a body of another shape', 200, { status: 'fine' }],
    ['no JSON', 200, 'ok'],
  ])('%s is an unexpected answer', async (_name, status, body) => {
    await expect(clientOf(status, body).client.call(getHealth, {})).rejects.toThrow(UnexpectedAnswer);
  });

  test('a field that is not known yet is let go', async () => {
    const { client } = clientOf(200, { status: 'healthy', uptime: 1, newer: true });
    expect((await client.call(getHealth, {})).body).toEqual({ status: 'healthy', uptime: 1 });
  });

  test('a call that the declaration does not allow does not compile', () => {
    const { client } = clientOf(200, {});
    const calls = [
      // @ts-expect-error the id is missing
      () => client.call(retryDeadLetter, {}),
      // @ts-expect-error the body is missing
      () => client.call(claimTask, {}),
      // @ts-expect-error no such type of task
      () => client.call(claimTask, { body: { workerId: 'w', taskTypes: ['sing'] } }),
      // @ts-expect-error a limit is a number
      () => client.call(listDeadLetters, { query: { limit: '5' } }),
    ];
    expect(calls).toHaveLength(4);
  });
});
