import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { listen } from '../../src/index.ts';

const host = '127.0.0.1';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp();
});

/** @returns what the server writes before it closes the connection. */
async function exchange(bytes: string): Promise<string> {
  const server = await listen((_request, response) => response.end('x'), { host, port: 0, drainMs: 10 });
  cleanups.push(server.close);
  const socket = connect(Number(new URL(server.url).port), host);
  cleanups.push(() => socket.destroy());
  socket.write(bytes);
  let text = '';
  for await (const chunk of socket) text += chunk;
  return text;
}

describe('listen', () => {
  test('close waits for the answer in progress and refuses new connections', async () => {
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
    const server = await listen(
      (_request, response) => {
        reach();
        void gate.then(() => response.end('whole'));
      },
      { host, port: 0 },
    );
    const answer = fetch(server.url);
    await reached;
    const closed = server.close();
    await expect(fetch(server.url)).rejects.toThrow();
    open();
    expect(await (await answer).text()).toBe('whole');
    await Promise.all([closed, server.close()]);
  });

  test('close lets idle kept-alive connections go at once', async () => {
    const server = await listen((_request, response) => response.end('x'), { host, port: 0, drainMs: 60_000 });
    await (await fetch(server.url)).text();
    await server.close();
  });

  test('an idle connection is kept longer than proxies reuse one, and its headers announce that', async () => {
    const server = await listen((_request, response) => response.end('x'), { host, port: 0 });
    const { headers } = await fetch(server.url);
    const [, seconds] = /^timeout=(\d+)$/.exec(headers.get('keep-alive') ?? '') ?? [];
    expect(Number(seconds)).toBeGreaterThan(60);
    await server.close();
  });

  test('an idle connection is closed after its time', async () => {
    const server = await listen((_request, response) => response.end('x'), { host, port: 0, timeouts: { idleMs: 1 } });
    const socket = connect(Number(new URL(server.url).port), host);
    socket.resume().write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    await once(socket, 'close');
    await server.close();
  });

  test('a connection that was opened in advance and never asked anything does not hold up the end', async () => {
    const server = await listen((_request, response) => response.end('x'), { host, port: 0, drainMs: 60_000 });
    const socket = connect(Number(new URL(server.url).port), host);
    const closed = once(socket, 'close');
    await once(socket, 'connect');
    await (await fetch(server.url)).text();
    await server.close();
    await closed;
  });

  test('close cuts what is not done by the deadline', async () => {
    const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
    const server = await listen(() => reach(), { host, port: 0, drainMs: 20 });
    const answer = fetch(server.url).catch(() => 'cut');
    await reached;
    await server.close();
    expect(await answer).toBe('cut');
  });

  test('a taken port names the variable that moves it', async () => {
    const server = await listen((_request, response) => response.end(), { host, port: 0 });
    const port = Number(new URL(server.url).port);
    await expect(listen(() => undefined, { host, port, variable: 'MONITOR_PORT' })).rejects.toThrow(
      `port ${port} on ${host} is in use; set MONITOR_PORT to another one`,
    );
    await server.close();
  });

  test.each([
    ['nonsense', 'nonsense\r\n\r\n', 'Malformed HTTP request'],
    ['a huge head', `GET / HTTP/1.1\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`, 'Request headers larger than 16384 bytes'],
    ['no Host header', 'GET / HTTP/1.1\r\n\r\n', 'Missing Host header'],
    [
      'an unknown expectation',
      'POST / HTTP/1.1\r\nhost: x\r\nexpect: magic\r\ncontent-length: 1\r\n\r\nx',
      'Unsupported Expect header: only 100-continue is supported',
    ],
  ])('%s gets an ApiError, and the connection is closed', async (_name, bytes, message) => {
    const text = await exchange(bytes);
    expect(text).toMatch(/^HTTP\/1\.1 400 .*\r\nconnection: close\r\n/is);
    expect(JSON.parse(text.split('\r\n\r\n')[1] ?? '')).toEqual({ error: message, code: 'INVALID_INPUT', status: 400 });
  });

  test.each([
    ['HTTP/1.0 without a Host header', 'GET / HTTP/1.0\r\n\r\n'],
    [
      'the expectation of 100-continue',
      'GET / HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\nconnection: close\r\n\r\n',
    ],
  ])('serves %s', async (_name, bytes) => {
    expect(await exchange(bytes)).toContain('HTTP/1.1 200 OK');
  });
});
