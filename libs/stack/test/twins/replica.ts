import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ConnectionFault, CutProxy } from '@pipeline/testing';
import type { Service } from './service.ts';

/** One replica of a service, served on a port of its own, with ways to the store that end with it. */
export class Replica<S extends Service = Service> {
  readonly service: S;
  readonly url: string;
  isDead = false;
  readonly died: Promise<void>;
  readonly #server: Server;
  readonly #ways: readonly CutProxy[];
  #onDeath: () => void = () => undefined;

  private constructor(served: { service: S; server: Server; ways: readonly CutProxy[]; onDeath: () => void }) {
    this.service = served.service;
    this.#server = served.server;
    this.#ways = served.ways;
    this.died = new Promise((resolve) => {
      this.#onDeath = () => {
        served.onDeath();
        resolve();
      };
    });
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** @param ways to the store; statements go by the first. @param onDeath called in the turn in which it dies. */
  static async serve<S extends Service>(
    service: S,
    ways: readonly CutProxy[],
    onDeath = () => {},
  ): Promise<Replica<S>> {
    const server = createServer(service.app);
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    return new Replica({ service, server, ways, onDeath });
  }

  /** One round of these loops; it may die over them. */
  async tick(loops: readonly string[]): Promise<void> {
    await this.service.tick(loops).catch((error: unknown) => {
      if (!this.isDead) throw error;
    });
  }

  /** It dies at its next commit. */
  doom(at: ConnectionFault): void {
    this.#ways[0]?.doom(at, () => this.die());
  }

  /** Gone in the middle of whatever it does: nothing more comes of it, to the store or to a caller. */
  die(): void {
    if (this.isDead) return;
    this.isDead = true;
    for (const way of this.#ways) way.cut();
    this.#server.closeAllConnections();
    this.#onDeath();
  }

  /** Settles when the store has noticed its death. */
  async noticed(): Promise<void> {
    await Promise.all(this.#ways.map((way) => way.gone()));
  }

  /** Ends all that is left of it, in good order where it is alive. */
  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((closed) => this.#server.close(closed));
    await this.service.stop();
    await Promise.all(this.#ways.map((way) => way.close()));
  }
}
