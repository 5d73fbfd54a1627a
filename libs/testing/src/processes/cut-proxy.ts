import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { closedWithFile } from './closing.ts';

/** Point at which the connection breaks: the commit is not sent, or it is executed and its response is lost. */
export type ConnectionFault = 'before the commit' | 'after the commit';

export interface CutProxy {
  /** URL of the target through this proxy. */
  readonly url: string;
  /** Breaks all connections and refuses new ones. */
  cut(): void;
  /** Accepts connections again. */
  restore(): void;
  /** Cuts at the next commit of any connection and calls `onCut` synchronously. */
  crashAtCommit(at: ConnectionFault, onCut: () => void): void;
  /** Settles when the server has ended every session that was cut. */
  gone(): Promise<void>;
  close(): Promise<void>;
}

/** The statement, and the response of the server. */
const COMMIT = Buffer.from('commit\0');
const COMMITTED = Buffer.from('COMMIT\0');

/** Starts a TCP proxy to the store that can be cut and restored. */
export async function startCutProxy(target: string): Promise<CutProxy> {
  const { hostname, port } = new URL(target);
  const connections = new Set<{ near: Socket; gone: Promise<unknown> }>();
  let open = true;
  let fault: { at: ConnectionFault; onCut: () => void; sentBy?: Socket } | undefined;
  const cut = () => {
    open = false;
    for (const { near } of connections) near.destroy();
  };
  const die = () => {
    const { onCut } = fault ?? {};
    fault = undefined;
    cut();
    onCut?.();
  };
  const server = createServer((near) => {
    if (!open) return near.destroy();
    const far = connect(Number(port), hostname);
    const connection = { near, gone: new Promise((resolve) => far.once('close', resolve)) };
    connections.add(connection);
    for (const socket of [near, far]) socket.on('error', () => undefined);
    // The server finishes what it has begun before it ends the session.
    near.on('close', () => far.end());
    far.on('close', () => {
      connections.delete(connection);
      near.destroy();
    });
    near.on('data', (chunk) => {
      if (fault && chunk.includes(COMMIT)) {
        if (fault.at === 'before the commit') return die();
        fault.sentBy = near;
      }
      far.write(chunk);
    });
    far.on('data', (chunk) => {
      if (fault?.sentBy === near && chunk.includes(COMMITTED)) return die();
      if (near.writable) near.write(chunk);
    });
    return undefined;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(target);
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: url.href,
    cut,
    restore: () => {
      open = true;
    },
    crashAtCommit(at, onCut) {
      fault = { at, onCut };
    },
    async gone() {
      await Promise.all([...connections].map((connection) => connection.gone));
    },
    close: closedWithFile(async () => {
      cut();
      server.close();
      await once(server, 'close');
    }),
  };
}
