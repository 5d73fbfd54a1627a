import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestServer, type TestServer } from './postgres-server.ts';
import { ensureTemplate } from './template.ts';

/** Names the broker's socket in the environment of the test processes. */
export const BROKER = 'PIPELINE_TEST_BROKER';

export interface Lent {
  serverUrl: string;
  template: string;
}

export interface Broker {
  socket: string;
  close(): Promise<void>;
}

/**
 * Lives in Jest's main process and lends one Postgres to all test files. The server starts when the first file asks,
 * so a run of pure tests never waits for one.
 */
export async function startBroker(env: NodeJS.ProcessEnv): Promise<Broker> {
  const folder = await mkdtemp(join(tmpdir(), 'pipeline-broker-'));
  const socket = join(folder, 'socket');
  let server: Promise<TestServer> | undefined;
  let lent: Promise<Lent> | undefined;
  const lend = async (): Promise<Lent> => {
    server = startTestServer(env);
    const { url, choice } = await server;
    process.stderr.write(`Postgres for tests: ${choice}\n`);
    return { serverUrl: url, template: await ensureTemplate(url) };
  };
  const http = createServer((_request, response) => {
    lent ??= lend();
    lent.then(
      (answer) => response.end(JSON.stringify(answer)),
      (error: unknown) => response.writeHead(500).end(String(error instanceof Error ? error.stack : error)),
    );
  });
  await new Promise<void>((listening) => http.listen(socket, listening));
  return {
    socket,
    async close() {
      http.closeAllConnections();
      await new Promise((closed) => http.close(closed));
      // A server that failed to start was reported to whoever asked for it.
      await (await server?.catch(() => undefined))?.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Asks the broker. @throws Error when the run has no broker or the server did not start. */
export async function borrowServer(socket: string | undefined): Promise<Lent> {
  if (socket === undefined)
    throw new Error(`${BROKER} is not set: run tests through jest.config.mjs of this workspace`);
  return new Promise((resolve, reject) => {
    // No connection is kept: the broker would close an idle one just when another file takes it up.
    const call = request({ socketPath: socket, path: '/', agent: false }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        body += chunk;
      });
      response.on('end', () => {
        if (response.statusCode === 200) resolve(JSON.parse(body));
        else reject(new Error(`no Postgres for tests: ${body}`));
      });
    });
    call.on('error', reject).end();
  });
}
