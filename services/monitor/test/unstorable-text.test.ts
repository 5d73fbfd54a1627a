import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { monitorSurface } from '@pipeline/contract';
import { testDatabase } from '@pipeline/testing';
import { unstorableRequests } from '@pipeline/testing/unstorable-requests';
import { makeBench } from './bench.ts';
import { type Call, serveConnected } from './served-app.ts';

const database = testDatabase();
let served: Awaited<ReturnType<typeof serveConnected>>;
let call: Call;
beforeAll(async () => {
  const { engine } = await makeBench(database.store, 'acme/shop');
  served = await serveConnected({ engine });
  call = served.call;
});
afterAll(() => served.close());

const requests = monitorSurface.routes.flatMap((route) => [...unstorableRequests(route)]);

test('NUL and unpaired surrogates in any text of any route get a declared answer, never a failure', async () => {
  expect(requests.length).toBeGreaterThan(200);
  const wrong: string[] = [];
  for (const { route, where, method, path, body } of requests) {
    // The client throws for answers that are not declared.
    const { status } = await call(method, path, body === undefined ? {} : { body });
    if (status < 400 || status >= 500) wrong.push(`${status} ${route.id} ${where}`);
  }
  expect(wrong).toEqual([]);
});
