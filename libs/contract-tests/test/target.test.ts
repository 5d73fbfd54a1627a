import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { Target } from '../src/target/target.ts';
import { surface } from './lying-server.ts';

const ANSWER = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}';

let stop: () => Promise<void>;
afterEach(() => stop());

/** A target that resets the connections of the first requests in place of an answer. */
async function resetting(count: number) {
  const seen: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', (data) => {
      seen.push(data.toString('latin1').split(' ')[0] ?? '');
      if (seen.length <= count) socket.resetAndDestroy();
      else socket.write(ANSWER);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  stop = async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  };
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const target = new Target({ url, surface, timeoutMs: 5_000, longestRetrySeconds: 1 });
  const exchange = (method: string) => target.exchange({ method, address: '/api/things', headers: {} });
  return { exchange, seen };
}

test('a read whose connection is reset is repeated once', async () => {
  const { exchange, seen } = await resetting(1);
  expect(await exchange('GET')).toMatchObject({ ok: true, answer: { status: 200 } });
  expect(seen).toEqual(['GET', 'GET']);
});

test('a read whose connection is reset each time has no answer', async () => {
  const { exchange, seen } = await resetting(9);
  expect(await exchange('GET')).toEqual({ ok: false, error: 'fetch failed: read ECONNRESET' });
  expect(seen).toEqual(['GET', 'GET']);
});

test('a write whose connection is reset is not repeated: the target may have read it', async () => {
  const { exchange, seen } = await resetting(1);
  expect(await exchange('POST')).toEqual({ ok: false, error: 'fetch failed: read ECONNRESET' });
  expect(seen).toEqual(['POST']);
});
