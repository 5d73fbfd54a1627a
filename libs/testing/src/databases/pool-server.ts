import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { DatabasePool, type Returned } from './database-pool.ts';

export interface PoolServer {
  socket: string;
  close(): Promise<void>;
}

/**
 * Lives in Jest's main process and lends databases on one Postgres to all test files. What a file would have to load
 * and to query again is here once for the whole run. The server starts when the first file asks, so a run of pure tests
 * never waits for one.
 */
export async function startPoolServer(env: NodeJS.ProcessEnv): Promise<PoolServer> {
  const folder = await mkdtemp(join(tmpdir(), 'pipeline-databases-'));
  const socket = join(folder, 'socket');
  const pool = new DatabasePool(env);
  const answer = async (request: IncomingMessage): Promise<unknown> =>
    request.method === 'GET' ? await pool.lend() : await pool.takeBack((await json(request)) as Returned);
  const http = createServer((request, response) => {
    answer(request).then(
      (body) => response.end(JSON.stringify(body)),
      (error: unknown) => response.writeHead(500).end(String(error instanceof Error ? error.stack : error)),
    );
  });
  await new Promise<void>((listening) => http.listen(socket, listening));
  return {
    socket,
    async close() {
      http.closeAllConnections();
      await new Promise((closed) => http.close(closed));
      await pool.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
