import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type AnyRoute, checkedFetch, isRawBody, monitorSurface } from '@pipeline/contract';
import { testDatabase } from '@pipeline/testing';
import { supertestFetch } from '@pipeline/testing/supertest-fetch';
import { makeBench } from '../support/bench.ts';
import { OLGA, serveConnected } from '../support/served-app.ts';

const database = testDatabase();
const { fetch: checked } = checkedFetch(monitorSurface, supertestFetch);
const AUTHORIZATION = `Basic ${Buffer.from(`${OLGA.username}:${OLGA.password}`).toString('base64')}`;
const routes = monitorSurface.routes.filter(({ body }) => body !== undefined);

let served: Awaited<ReturnType<typeof serveConnected>>;
beforeAll(async () => {
  const { engine } = await makeBench(database.store, 'acme/shop');
  served = await serveConnected({ engine });
});
afterAll(() => served.close());

/** Sends plain text that claims to be encoded. @returns the status; the client throws for undeclared answers. */
async function send(route: AnyRoute, encoding: string, authorization?: string): Promise<number> {
  const answer = await checked(served.url + route.path.replaceAll(/\{\w+\}/g, '1'), {
    method: route.method.toUpperCase(),
    headers: {
      'content-type': isRawBody(route.body) ? route.body.type : 'application/json',
      'content-encoding': encoding,
      ...(authorization && { authorization }),
    },
    body: '{}',
  });
  await answer.text();
  return answer.status;
}

test.each([
  ['a plain body that claims to be compressed', 'gzip', 400],
  ['an unknown encoding', 'snappy', 415],
])('%s is refused by every route', async (_what, encoding, refused) => {
  expect(routes.length).toBeGreaterThan(20);
  const statuses = await Promise.all(
    routes.map(async (route) => [route.id, await send(route, encoding, AUTHORIZATION)] as const),
  );
  // Nothing is inflated for a caller who is not authenticated.
  expect(statuses.filter(([id, status]) => status !== (id === 'login' ? 415 : refused))).toEqual([]);
});

test.each(['gzip', 'snappy'])('without credentials, %s changes nothing of the refusal', async (encoding) => {
  const guarded = routes.filter(({ auth }) => auth === 'operator');
  const statuses = await Promise.all(guarded.map((route) => send(route, encoding)));
  expect(new Set(statuses)).toEqual(new Set([401]));
});
