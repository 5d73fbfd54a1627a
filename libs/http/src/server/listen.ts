import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Listening, listenOn, sleep } from '@pipeline/runtime';
import { MAX_HEADERS, refuseConnection, refuseExpectation, requireHost } from './refuse.ts';
import { REQUEST_TIMEOUTS, type RequestTimeouts } from './timeouts.ts';

interface ListenOptions {
  host: string;
  /** 0 = any free port. */
  port: number;
  /** Environment variable of the port, for the error message when the port is in use. */
  variable?: string;
  /** Maximum time that close() waits for requests in flight. */
  drainMs?: number;
  timeouts?: Partial<Omit<RequestTimeouts, 'bodyMs'>>;
}

const DRAIN_MS = 8_000;

/**
 * Serves an app. close() stops accepting connections, closes idle ones, waits for requests in flight and destroys the remaining
 * connections after the deadline.
 * @throws StartError naming the environment variable when the address is not available.
 */
export async function listen(app: RequestListener, options: ListenOptions): Promise<Listening> {
  const { host, port, variable = 'PORT', drainMs = DRAIN_MS } = options;
  const { headMs, requestMs, idleMs, checkMs } = { ...REQUEST_TIMEOUTS, ...options.timeouts };
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADERS,
      headersTimeout: headMs,
      requestTimeout: requestMs,
      keepAliveTimeout: idleMs,
      connectionsCheckingInterval: checkMs,
      // Node's own refusal has no body.
      requireHostHeader: false,
    },
    requireHost(app),
  );
  server.on('checkExpectation', refuseExpectation);
  let draining = false;
  // Node counts a connection without a request as busy; clients open connections in advance.
  const silent = new Set<Socket>();
  server.on('connection', (socket) => {
    silent.add(socket);
    socket.once('close', () => silent.delete(socket));
  });
  const answering = new WeakMap<Socket, ServerResponse>();
  server.on('request', ({ socket }, response) => {
    silent.delete(socket);
    answering.set(socket, response);
    if (draining) response.setHeader('connection', 'close');
    response.once('close', () => draining && setImmediate(() => server.closeIdleConnections()));
  });
  server.on('clientError', (error, socket) => {
    const response = answering.get(socket as Socket);
    const isBegun =
      response !== undefined && !response.writableFinished && (response.headersSent || response.req.complete);
    // Data written here would be read as part of the response in flight.
    if (isBegun) socket.destroy();
    else refuseConnection(error, socket as Socket);
  });
  const url = await listenOn(server, { host, port, variable });
  const close = async () => {
    draining = true;
    const closed = new Promise<void>((resolve) => {
      server.close(() => resolve());
    });
    for (const socket of silent) if (socket.bytesRead === 0) socket.destroy();
    const done = new AbortController();
    const cut = sleep(drainMs, done.signal).then((late) => late && server.closeAllConnections());
    await closed;
    done.abort();
    await cut;
  };
  let closing: Promise<void> | undefined;
  return {
    url,
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}
