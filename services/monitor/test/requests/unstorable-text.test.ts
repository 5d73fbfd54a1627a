import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { checkedFetch, monitorSurface } from '@pipeline/contract';
import { type UnstorableRequest, unstorableRequests } from '@pipeline/contract-tests/unstorable-requests';
import { testDatabase } from '@pipeline/testing';
import { supertestFetch } from '@pipeline/testing/supertest-fetch';
import { EventFeed } from '../../src/stream/event-feed.ts';
import { makeBench } from '../support/bench.ts';
import { OLGA, serveConnected } from '../support/served-app.ts';

const database = testDatabase();
const { fetch: checked } = checkedFetch(monitorSurface, supertestFetch);
const AUTHORIZATION = `Basic ${Buffer.from(`${OLGA.username}:${OLGA.password}`).toString('base64')}`;
let served: Awaited<ReturnType<typeof serveConnected>>;
let feed: EventFeed;
beforeAll(async () => {
  const { engine } = await makeBench(database.store, 'acme/shop');
  feed = new EventFeed({ store: database.store, uptime: () => 1, now: () => new Date() });
  await feed.tick();
  served = await serveConnected({ engine, feed });
});
afterAll(async () => {
  feed.close();
  await served.close();
});

async function statusOf({ method, path, body }: UnstorableRequest): Promise<number> {
  const headers = { authorization: AUTHORIZATION };
  // It throws for answers that are not declared.
  const answer = await checked(served.url + path, { method, headers, ...(body !== undefined && { body }) });
  // An event stream would not end by itself.
  await answer.body?.cancel();
  return answer.status;
}

test('NUL and unpaired surrogates in any text of any route get a declared answer, never a failure', async () => {
  const requests = monitorSurface.routes.flatMap((route) => [...unstorableRequests(route)]);
  expect(requests.length).toBeGreaterThan(200);
  const wrong: string[] = [];
  for (const request of requests) {
    const { route, where } = request;
    const status = await statusOf(request);
    const isTaken = status < 400 && where.startsWith('body');
    // interface: the timeline of a repo without context is 503.
    const isFailure = status >= 500 && route.id !== 'readTimeline';
    if (isFailure || isTaken) wrong.push(`${status} ${route.id} ${where}`);
  }
  expect(wrong).toEqual([]);
});
