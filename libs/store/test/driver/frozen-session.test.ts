import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { type sleep as runtimeSleep, silentLogger } from '@pipeline/runtime';
import { testDatabase } from '@pipeline/testing';
import { sql } from 'kysely';
import { IDLE_SESSION_TIMEOUT_MS, Notifications } from '../../src/index.ts';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  // Ways first: a bell that is closed waits for its server.
  for (const cleanup of cleanups.splice(0)) await cleanup();
});
const database = testDatabase();

/** No heartbeat and no second connection: it ends with its signal alone. */
const sleep: typeof runtimeSleep = (_ms, signal) =>
  new Promise((resolve) => {
    if (signal?.aborted) return resolve(false);
    signal?.addEventListener('abort', () => resolve(false), { once: true });
  });

/** A proxy to the server that acts like a frozen process: the connection stays open, nothing is read or sent. */
async function freezableWay(target: string) {
  const sockets: Socket[] = [];
  const server = createServer((near) => {
    const { hostname, port } = new URL(target);
    const far = connect(Number(port), hostname);
    for (const socket of [near, far]) socket.on('error', () => undefined);
    near.pipe(far);
    far.pipe(near);
    sockets.push(near, far);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  });
  const url = new URL(target);
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const freeze = () => {
    for (const socket of sockets) {
      socket.unpipe();
      socket.pause();
    }
  };
  return { url: url.href, freeze };
}

function openBell(directUrl: string): Notifications {
  const bell = new Notifications({ directUrl, applicationName: 'bell', sleep, log: silentLogger });
  cleanups.push(() => bell.close());
  bell.start();
  return bell;
}

async function lead(bell: Notifications) {
  for (;;) {
    const term = await bell.lead();
    if (term) return term;
    await sql`select pg_sleep(0.1)`.execute(database.store.db);
  }
}

/** More than the buffers of both sides of a connection hold. */
const flood = async () => {
  for (let round = 0; round < 200; round += 1) {
    await sql`select pg_notify('svc_tasks', repeat('1', 7800) || n) from generate_series(${round * 20}::int, ${round * 20 + 19}::int) n`.execute(
      database.store.db,
    );
  }
};

test.each(['quiet', 'flooded'])('the server frees the lock of a frozen session that is %s', async (kind) => {
  const way = await freezableWay(database.url);
  const frozen = openBell(way.url);
  if (kind === 'flooded') frozen.on('svc_tasks', () => undefined);
  await lead(frozen);
  way.freeze();
  const frozenAt = performance.now();
  // The server is blocked sending notifications to it.
  if (kind === 'flooded') await flood();
  await lead(openBell(database.url));
  expect(performance.now() - frozenAt).toBeLessThan(IDLE_SESSION_TIMEOUT_MS + 10_000);
});
