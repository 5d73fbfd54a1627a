import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { monitorSurface, parameterProblems, routesWithParameters } from '@pipeline/contract';
import { testDatabase } from '@pipeline/testing';
import { makeBench } from '../support/bench.ts';
import { OLGA, serveConnected } from '../support/served-app.ts';

const database = testDatabase();
const authorization = `Basic ${Buffer.from(`${OLGA.username}:${OLGA.password}`).toString('base64')}`;
let served: Awaited<ReturnType<typeof serveConnected>>;

beforeAll(async () => {
  served = await serveConnected({ engine: (await makeBench(database.store, 'acme/shop')).engine });
});
afterAll(() => served.close());

async function probe(path: string) {
  const gone = new AbortController();
  const answer = await fetch(served.url + path, { headers: { authorization }, signal: gone.signal });
  const { code } = answer.status >= 400 ? ((await answer.json()) as { code: string }) : { code: undefined };
  // A stream has no end.
  gone.abort();
  return { status: answer.status, code };
}

test.each(routesWithParameters(monitorSurface).map((route) => [route.id, route] as const))(
  'accepts and refuses every text of every parameter as the document says: %s',
  async (_id, route) => {
    expect(await parameterProblems(monitorSurface, route, probe)).toEqual([]);
  },
);
