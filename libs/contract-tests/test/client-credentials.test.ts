import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { renewedToken } from '../src/target/client-credentials.ts';

/** Issues token 1, token 2 and so on, each for 600 s, or refuses. */
const issuer = { url: '', issued: 0, refuses: false, body: undefined as string | undefined, requests: [] as string[] };
const server = createServer((request, response) => {
  void text(request).then((body) => {
    issuer.requests.push(body);
    if (!issuer.refuses) issuer.issued += 1;
    const issued = { access_token: `token ${issuer.issued}`, expires_in: 600 };
    response.writeHead(issuer.refuses ? 401 : 200, { connection: 'close' });
    response.end(issuer.body ?? JSON.stringify(issuer.refuses ? { error: 'invalid_client' } : issued));
  });
});

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  issuer.url = `http://127.0.0.1:${port}/`;
});
afterAll(() => void server.close());
afterEach(() => {
  Object.assign(issuer, { issued: 0, refuses: false, body: undefined, requests: [] });
  jest.restoreAllMocks();
});

const CLIENT = { clientId: 'ci_1', clientSecret: 'a+b&c' };

/** Waits until the issuer has answered so many requests. */
async function requested(count: number): Promise<void> {
  while (issuer.requests.length < count) await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
}

test('a token is replaced after half of its lifetime, by one request', async () => {
  const began = Date.now();
  const current = await renewedToken(issuer.url, CLIENT);
  jest.spyOn(Date, 'now').mockReturnValue(began + 290_000);
  expect([current(), current()]).toEqual(['token 1', 'token 1']);
  jest.spyOn(Date, 'now').mockReturnValue(began + 310_000);
  expect([current(), current()]).toEqual(['token 1', 'token 1']);
  while (current() === 'token 1') await requested(2);
  expect(current()).toBe('token 2');
  expect(issuer.requests).toEqual(
    Array.from({ length: 2 }, () => 'grant_type=client_credentials&client_id=ci_1&client_secret=a%2Bb%26c'),
  );
});

test('a token stays when its renewal is refused, and the next renewal is tried later', async () => {
  const began = Date.now();
  const current = await renewedToken(issuer.url, CLIENT);
  issuer.refuses = true;
  jest.spyOn(Date, 'now').mockReturnValue(began + 310_000);
  current();
  await requested(2);
  expect(current()).toBe('token 1');
  issuer.refuses = false;
  jest.spyOn(Date, 'now').mockReturnValue(began + 400_000);
  while (current() === 'token 1') await requested(3);
  expect(issuer.requests).toHaveLength(3);
});

test('a client that is refused ends with the reason, without its secret', async () => {
  issuer.refuses = true;
  const error = await renewedToken(issuer.url, CLIENT).catch(({ message }: Error) => message);
  expect(error).toBe(`${issuer.url}oauth/token issues no token to client ci_1: 401 {"error":"invalid_client"}`);
});

test.each([
  ['{"access_token":"mcp_at_secret"}', 'has no expires_in above 0'],
  ['{"access_token":"mcp_at_secret","expires_in":0}', 'has no expires_in above 0'],
  ['{"expires_in":600}', 'has no access_token'],
  ['mcp_at_secret', 'is not JSON'],
])('an answer without a usable token is named, without what it contains: %s', async (body, reason) => {
  issuer.body = body;
  const error = await renewedToken(issuer.url, CLIENT).catch(({ message }: Error) => message);
  expect(error).toBe(`${issuer.url}oauth/token issues no token to client ci_1: its 200 answer ${reason}`);
});
