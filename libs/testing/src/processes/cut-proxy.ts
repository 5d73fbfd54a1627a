import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { closedWithFile } from './closing.ts';

/** Where a doomed way breaks: the commit does not arrive, or it is done and nobody is told. */
export type ConnectionFault = 'before the commit' | 'after the commit';

export interface CutProxy {
  /** The target's, with this way to it. */
  readonly url: string;
  /** Breaks every connection and takes no other one. */
  cut(): void;
  mend(): void;
  /** Cuts at the next commit that anybody sends this way, and calls `onCut` in the same turn. */
  doom(at: ConnectionFault, onCut: () => void): void;
  /** Settles when the server has let go of every session that was cut. */
  gone(): Promise<void>;
  close(): Promise<void>;
}

/** As the statement goes out, and as the server's word comes back. */
const COMMIT = Buffer.from('commit\0');
const COMMITTED = Buffer.from('COMMIT\0');

/** A way to the store that can be cut and mended. */
export async function startCutProxy(target: string): Promise<CutProxy> {
  const { hostname, port } = new URL(target);
  const ways = new Set<{ near: Socket; gone: Promise<unknown> }>();
  let open = true;
  let doomed: { at: ConnectionFault; onCut: () => void; sentBy?: Socket } | undefined;
  const cut = () => {
    open = false;
    for (const { near } of ways) near.destroy();
  };
  const die = () => {
    const { onCut } = doomed ?? {};
    doomed = undefined;
    cut();
    onCut?.();
  };
  const server = createServer((near) => {
    if (!open) return near.destroy();
    const far = connect(Number(port), hostname);
    const way = { near, gone: new Promise((resolve) => far.once('close', resolve)) };
    ways.add(way);
    for (const socket of [near, far]) socket.on('error', () => undefined);
    // The server ends the session in its own time: what it has begun it ends first.
    near.on('close', () => far.end());
    far.on('close', () => {
      ways.delete(way);
      near.destroy();
    });
    near.on('data', (chunk) => {
      if (doomed && chunk.includes(COMMIT)) {
        if (doomed.at === 'before the commit') return die();
        doomed.sentBy = near;
      }
      far.write(chunk);
    });
    far.on('data', (chunk) => {
      if (doomed?.sentBy === near && chunk.includes(COMMITTED)) return die();
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
    mend: () => {
      open = true;
    },
    doom(at, onCut) {
      doomed = { at, onCut };
    },
    async gone() {
      await Promise.all([...ways].map((way) => way.gone));
    },
    close: closedWithFile(async () => {
      cut();
      server.close();
      await once(server, 'close');
    }),
  };
}
