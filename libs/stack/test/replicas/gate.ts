import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Gate {
  url: string;
  /** Calls back once when the next request that matches has arrived; its answer follows when the callback has ended. */
  atNext(matches: (method: string, path: string) => boolean, then: () => void): void;
  /** Writes that went through so far, as "METHOD path". */
  writes: string[];
  close(): Promise<void>;
}

/** One process's way to the host: the host answers, and the test sees the request before the process has the answer. */
export async function startGate(target: string): Promise<Gate> {
  let watched: { matches: (method: string, path: string) => boolean; then: () => void } | undefined;
  const writes: string[] = [];
  const pass = (from: IncomingMessage, to: ServerResponse) => {
    const { method = 'GET', url = '/', headers } = from;
    if (method !== 'GET') writes.push(`${method} ${url}`);
    if (watched?.matches(method, url)) {
      const { then } = watched;
      watched = undefined;
      then();
    }
    const onward = request(new URL(url, target), { method, headers }, (answer) => {
      to.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(to);
    });
    onward.on('error', () => to.destroy());
    from.pipe(onward);
  };
  const server = createServer(pass);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    atNext: (matches, then) => {
      watched = { matches, then };
    },
    writes,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
