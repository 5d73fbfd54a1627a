import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { monitorSurface } from '@pipeline/contract';
import { Probe } from '../src/checks/probe.ts';
import { streamChecks } from '../src/checks/stream.ts';
import { credentialMatrix } from '../src/target/credentials.ts';
import { Target } from '../src/target/target.ts';

const BUFFER = 100;
const replays = streamChecks(monitorSurface).find(({ name }) => name.startsWith('replays'));

let server: Server;
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** A monitor with `last` events, and with some more at each connection. @param skipped an id that it does not replay. */
async function probeOf({ last, more, skipped }: { last: number; more: number; skipped?: number }): Promise<Probe> {
  let latest = last;
  const message = (id: number) =>
    `id: ${id}\nevent: heartbeat\ndata: ${JSON.stringify({ timestamp: new Date(0).toISOString(), uptime: id })}\n\n`;
  server = createServer(({ headers }, response) => {
    const after = Number(headers['last-event-id']);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (let id = Math.max(after, latest - BUFFER) + 1; id <= latest; id += 1)
      if (id !== skipped || after === 0) response.write(message(id));
    latest += more;
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const target = new Target({ url, surface: monitorSurface, timeoutMs: 5_000, longestRetrySeconds: 0 });
  const operator = { username: 'operator', password: 'of a test' };
  return new Probe({ target, matrix: credentialMatrix({ operator, refusedTokens: [] }) });
}

test('passes when new events push the oldest ones out of the buffer between two connections', async () => {
  await expect(replays?.run(await probeOf({ last: 500, more: 20 }))).resolves.toBeUndefined();
});

test('fails when an event is not replayed', async () => {
  await expect(replays?.run(await probeOf({ last: 500, more: 1, skipped: 498 }))).rejects.toThrow(
    'ids after 495 is ["496","497","499","500","501"], expected ["496","497","498","499","500"]',
  );
});
