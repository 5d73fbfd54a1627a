import { createServer, type RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { STATUS_OF } from '@pipeline/contract';
import { type Listening, listenOn, sleep } from '@pipeline/runtime';

interface ListenOptions {
  host: string;
  /** 0 = any free port. */
  port: number;
  /** The variable that moves the port, for the message when it is taken. */
  variable?: string;
  /** How long close() waits for requests that are still being answered. */
  drainMs?: number;
}

const MAX_HEADERS = 16 * 1024;
const DRAIN_MS = 8_000;

/**
 * Serves an app. close() stops accepting, lets connections go that ask nothing, waits for the answers that are under way and
 * cuts what is left after the deadline.
 * @throws StartError when the address cannot be had, naming the variable that changes it.
 */
export async function listen(app: RequestListener, options: ListenOptions): Promise<Listening> {
  const { host, port, variable = 'PORT', drainMs = DRAIN_MS } = options;
  const server = createServer({ maxHeaderSize: MAX_HEADERS }, app);
  let draining = false;
  // Node counts a connection that has not asked yet as busy; clients open some in advance.
  const silent = new Set<Socket>();
  server.on('connection', (socket) => {
    silent.add(socket);
    socket.once('close', () => silent.delete(socket));
  });
  server.on('request', ({ socket }, response) => {
    silent.delete(socket);
    if (draining) response.setHeader('connection', 'close');
    response.once('close', () => draining && setImmediate(() => server.closeIdleConnections()));
  });
  server.on('clientError', refuse);
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

/** Answers what is no HTTP at all, or has heads larger than 16 KiB, before any route is known. */
function refuse(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const tooLarge = error.code === 'HPE_HEADER_OVERFLOW';
  const message = tooLarge ? `Request headers larger than ${MAX_HEADERS} bytes` : 'Malformed HTTP request';
  const status = STATUS_OF.INVALID_INPUT;
  const body = JSON.stringify({ error: message, code: 'INVALID_INPUT', status });
  socket.end(
    `HTTP/1.1 ${status} Bad Request\r\nconnection: close\r\ncontent-type: application/json; charset=utf-8\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
