import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ConnectionFault, CutProxy } from '@pipeline/testing';
import type { Service } from './service.ts';

/** One replica of a service on its own port, with its proxies to the store. */
export class Replica<S extends Service = Service> {
  readonly service: S;
  readonly url: string;
  isDead = false;
  readonly died: Promise<void>;
  readonly #server: Server;
  readonly #proxies: readonly CutProxy[];
  #onDeath: () => void = () => undefined;

  private constructor(served: { service: S; server: Server; proxies: readonly CutProxy[]; onDeath: () => void }) {
    this.service = served.service;
    this.#server = served.server;
    this.#proxies = served.proxies;
    this.died = new Promise((resolve) => {
      this.#onDeath = () => {
        served.onDeath();
        resolve();
      };
    });
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** @param proxies to the store; the first one is for statements. @param onDeath called synchronously. */
  static async serve<S extends Service>(
    service: S,
    proxies: readonly CutProxy[],
    onDeath = () => {},
  ): Promise<Replica<S>> {
    const server = createServer(service.app);
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    return new Replica({ service, server, proxies, onDeath });
  }

  /** Runs one round of these loops; errors of a replica that crashes are ignored. */
  async tick(loops: readonly string[]): Promise<void> {
    await this.service.tick(loops).catch((error: unknown) => {
      if (!this.isDead) throw error;
    });
  }

  /** Crashes at the next commit. */
  crashAtCommit(at: ConnectionFault): void {
    this.#proxies[0]?.crashAtCommit(at, () => this.die());
  }

  /** Crashes: no further statement reaches the store, no response reaches a caller. */
  die(): void {
    if (this.isDead) return;
    this.isDead = true;
    for (const proxy of this.#proxies) proxy.cut();
    this.#server.closeAllConnections();
    this.#onDeath();
  }

  /** Settles when the store has ended its sessions. */
  async noticed(): Promise<void> {
    await Promise.all(this.#proxies.map((proxy) => proxy.gone()));
  }

  /** Stops the service and its proxies. */
  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((closed) => this.#server.close(closed));
    await this.service.stop();
    await Promise.all(this.#proxies.map((proxy) => proxy.close()));
  }
}
