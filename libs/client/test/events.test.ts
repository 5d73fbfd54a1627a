import type { ServerResponse } from 'node:http';
import { expect, test } from '@jest/globals';
import { createMonitorClient } from '../src/index.ts';
import { aServer, refusal } from './a-server.ts';

const server = aServer();
const monitor = () => createMonitorClient<Record<never, never>>({ url: server.at.url, retries: 0 });

const event = (id: number, data = '{}') => `id: ${id}\nevent: state-change\ndata: ${data}\n\n`;
const stream =
  (parts: readonly string[], end: (response: ServerResponse) => void = (response) => response.end()) =>
  (_request: unknown, response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const part of parts) response.write(part);
    setImmediate(() => end(response));
  };

/** The events until there are so many. */
async function read(count: number, options: { lastEventId?: number } = {}) {
  const found = [];
  for await (const one of monitor().events(options)) {
    found.push(one);
    if (found.length === count) break;
  }
  return found;
}

test('events are parsed, whatever pieces they arrive in', async () => {
  server.answers(stream([': connected\n\nid: 7\nevent: cost', '-update\ndata: {"a":', '"ü"}\n\n']));
  expect(await read(1)).toEqual([{ type: 'cost-update', id: 7, data: { a: 'ü' } }]);
});

test('a stream that ends or breaks is opened again after the last event', async () => {
  server.answers(
    stream([event(1), event(2)]),
    stream([event(3)], (response) => response.destroy()),
    stream([event(4)]),
  );
  expect((await read(4)).map((one) => 'id' in one && one.id)).toEqual([1, 2, 3, 4]);
  expect(server.seen.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, '2', '3']);
}, 15_000);

test('a gap is reported where the monitor could not replay all', async () => {
  server.answers(stream([': gap\n\n', event(90)]));
  expect(await read(2, { lastEventId: 5 })).toEqual([{ type: 'gap' }, { type: 'state-change', id: 90, data: {} }]);
  expect(server.seen[0]?.headers['last-event-id']).toBe('5');
});

test('a stream that is refused is an error', async () => {
  server.answers(refusal(403, 'INSUFFICIENT_SCOPE'));
  await expect(read(1)).rejects.toMatchObject({ status: 403, code: 'INSUFFICIENT_SCOPE' });
});

test('the signal ends the stream and its connection', async () => {
  const abort = new AbortController();
  let closed = false;
  server.answers((_request, response) => {
    response.on('close', () => {
      closed = true;
    });
    stream([event(1)], () => undefined)(_request, response);
  });
  for await (const _one of monitor().events({ signal: abort.signal })) abort.abort();
  while (!closed) await new Promise((resolve) => setImmediate(resolve));
  expect(server.seen).toHaveLength(1);
});
