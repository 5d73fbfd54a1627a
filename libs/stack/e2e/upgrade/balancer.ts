import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/**
 * One address for the replicas of a service: each connection goes to the next replica, and from one that refuses it to
 * another, as with a proxy that has no notice of a restart.
 */
export class Balancer {
  /** Addresses of the replicas. */
  readonly upstreams = new Set<string>();
  url = '';
  readonly #server = createServer((socket) => this.#pass(socket));
  readonly #sockets = new Set<Socket>();
  #connections = 0;

  async listen(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #pass(client: Socket): void {
    this.#keep(client);
    this.#connections += 1;
    const all = [...this.upstreams];
    const first = this.#connections % all.length;
    this.#open(client, [...all.slice(first), ...all.slice(0, first)]);
  }

  /** Nothing was sent yet when a replica refuses a connection, so another one gets all of it. */
  #open(client: Socket, [url, ...others]: readonly string[]): void {
    if (url === undefined) {
      client.destroy();
      return;
    }
    const replica = connect(Number(new URL(url).port), '127.0.0.1');
    this.#keep(replica);
    replica.once('connect', () => {
      client.pipe(replica);
      replica.pipe(client);
      replica.once('close', () => client.destroy());
      client.once('close', () => replica.destroy());
    });
    replica.once('error', () => {
      if (replica.connecting || replica.bytesRead + replica.bytesWritten === 0) this.#open(client, others);
    });
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => this.#sockets.delete(socket));
  }
}
