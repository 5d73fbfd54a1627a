import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { readStream } from '../src/checks/read-stream.ts';

let server: Server;
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

async function streaming(chunks: readonly string[], type = 'text/event-stream'): Promise<string> {
  server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': type });
    for (const chunk of chunks) response.write(chunk);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const read = (url: string, some: number, withinMs = 60_000) =>
  readStream(url, {}, { withinMs, isEnough: (all) => all.length >= some });

test('reads messages that arrive in pieces, and passes over comments', async () => {
  const url = await streaming([
    ': hello\n\nid: 1\nevent: al',
    'ert\ndata: {"a":1}\n',
    '\nid: 2\nevent: x\ndata: 2\n\n',
  ]);
  expect(await read(url, 2)).toEqual([
    { id: '1', event: 'alert', data: { a: 1 } },
    { id: '2', event: 'x', data: 2 },
  ]);
});

test('gives what has come when the time is over', async () => {
  const url = await streaming(['id: 1\nevent: x\ndata: 1\n\n']);
  expect(await read(url, 2, 3_000)).toHaveLength(1);
});

test('fails for another content type, data that is no JSON, and a message without an end', async () => {
  await expect(read(await streaming(['x'], 'text/plain'), 1)).rejects.toThrow('content type is text/plain');
  server.closeAllConnections();
  server.close();
  await expect(read(await streaming(['data: {\n\n']), 1)).rejects.toThrow('the data of a message is no JSON');
  server.closeAllConnections();
  server.close();
  await expect(read(await streaming(['x'.repeat(1_100_000)]), 1)).rejects.toThrow('a message has no end');
});
