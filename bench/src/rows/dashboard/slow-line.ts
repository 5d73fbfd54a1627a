import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { sleep } from '@pipeline/runtime';

/** 10 Mbit/s. */
const BYTES_PER_MS = 1_250;
/** Passed on at once: 3 ms of the line. */
const PIECE = 4_096;

/**
 * A line of 10 Mbit/s to a server, shared by all connections. That of the browser's debugger needs its domain Network, which
 * computes the stack of each request in the page.
 * @returns its address, and a function that ends it.
 */
export async function openSlowLine(serverUrl: string): Promise<{ url: string; stop(): Promise<void> }> {
  const { hostname, port } = new URL(serverUrl);
  const sockets = new Set<Socket>();
  let freeAt = 0;
  async function* paced(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      for (let from = 0; from < chunk.length; from += PIECE) {
        const piece = chunk.subarray(from, from + PIECE);
        freeAt = Math.max(performance.now(), freeAt) + piece.length / BYTES_PER_MS;
        await sleep(freeAt - performance.now());
        yield piece;
      }
    }
  }
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) {
      socket.setNoDelay(true);
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    }
    // Either end closes the other; browsers reset connections that they do not need.
    void pipeline(client, upstream).catch(() => upstream.destroy());
    void pipeline(upstream, paced, client).catch(() => client.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
