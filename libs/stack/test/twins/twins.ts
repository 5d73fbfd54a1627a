import { expect } from '@jest/globals';
import { type Client, createClient } from '@pipeline/contract';
import type { VcsHost } from '@pipeline/domain';
import { type Logger, silentLogger } from '@pipeline/runtime';
import { type ConnectionFault, startCutProxy, type TestDatabase } from '@pipeline/testing';
import { HostLine } from './host-line.ts';
import { hostedService } from './hosted.ts';
import { BASIC, type MonitorService, monitorService } from './monitor.ts';
import { Replica } from './replica.ts';
import type { Service } from './service.ts';

type Monitor = Replica<MonitorService>;

/** A call got no answer: whoever was asked has died. */
export class Unanswered extends Error {}

interface TwinsOptions {
  database: TestDatabase;
  /** Of a worker of the tenant. */
  token: string;
  /** The host of the run under way. */
  host: () => VcsHost;
}

/** Two monitors and two hosted APIs on one database. One that has died is followed by another one. */
export class Twins {
  monitors: Monitor[] = [];
  /** What replicas complained of while they were alive. */
  readonly complaints: string[] = [];
  readonly #options: TwinsOptions;
  readonly #clients: Record<'monitor' | 'hosted-api', { authorization: string }>;
  #apis: Replica[] = [];
  #turns: readonly number[] = [0];
  #turn = 0;
  #doom: ConnectionFault | null = null;
  #starting: Promise<unknown> = Promise.resolve();
  readonly #burials: Promise<unknown>[] = [];

  constructor(options: TwinsOptions) {
    this.#options = options;
    this.#clients = {
      monitor: { authorization: BASIC },
      'hosted-api': { authorization: `Bearer ${options.token}` },
    };
  }

  async start(): Promise<void> {
    for (let i = 0; i < 2; i += 1) {
      await this.#startMonitor();
      await this.#startApi();
    }
  }

  async stop(): Promise<void> {
    await this.whole();
    await Promise.all(this.#burials);
    await Promise.all([...this.monitors, ...this.#apis].map((replica) => replica.stop()));
  }

  /** @param turns who is asked, again and again in this order: the first or the second replica. */
  begin(turns: readonly number[]): void {
    this.#turns = turns;
    this.#turn = 0;
    this.#doom = null;
    this.complaints.length = 0;
  }

  /** Whoever is asked next dies at its next commit. */
  crash(at: ConnectionFault): void {
    this.#doom = at;
  }

  /** Settles when there are two of each. */
  async whole(): Promise<void> {
    while (this.monitors.length < 2 || this.#apis.length < 2) await this.#starting;
  }

  /** A bit of the run's data. */
  flip(): boolean {
    this.#turn += 1;
    return this.#turns[this.#turn % this.#turns.length] === 1;
  }

  /** Asks one of the two. @throws Unanswered when it died over it. */
  async ask<T>(kind: 'monitor' | 'hosted-api', call: (client: Client) => Promise<T>): Promise<T> {
    await this.whole();
    const replica = this.#inOrder<Replica>(kind === 'monitor' ? this.monitors : this.#apis)[0];
    try {
      return await call(createClient({ baseUrl: replica.url, headers: this.#clients[kind] }));
    } catch (error) {
      if (replica.isDead) throw new Unanswered('', { cause: error });
      throw error;
    }
  }

  /** What both monitors answer to the same question. */
  async readBoth(path: string): Promise<unknown[]> {
    await this.whole();
    return Promise.all(
      this.monitors.map(async ({ url }) => {
        const answer = await fetch(url + path, { headers: this.#clients.monitor });
        expect({ path, status: answer.status }).toEqual({ path, status: 200 });
        return answer.json();
      }),
    );
  }

  /** One round of these loops on both monitors, one after the other or both at once. */
  async tickMonitors(loops: readonly string[]): Promise<void> {
    await this.#tick(() => this.monitors, loops);
  }

  async tickApis(loops: readonly string[]): Promise<void> {
    await this.#tick(() => this.#apis, loops);
  }

  async #tick(all: () => readonly Replica[], loops: readonly string[]): Promise<void> {
    await this.whole();
    const [first, second] = this.#inOrder(all());
    if (this.flip()) await Promise.all([first.tick(loops), second.tick(loops)]);
    else {
      await first.tick(loops);
      await second.tick(loops);
    }
    // What died half way is done by who follows.
    if (first.isDead || second.isDead) await this.#tick(all, loops);
  }

  /** The first of them is whom a crash befalls. */
  #inOrder<R extends Replica>(replicas: readonly R[]): [R, R] {
    const [one, two] = replicas;
    if (!one || !two) throw new Error('there are not two of them');
    const order: [R, R] = this.flip() ? [two, one] : [one, two];
    if (this.#doom) order[0].doom(this.#doom);
    this.#doom = null;
    return order;
  }

  async #startMonitor(): Promise<void> {
    const { database, host } = this.#options;
    const ways = await Promise.all([startCutProxy(database.url), startCutProxy(database.url)]);
    const line = new HostLine(host);
    const life = { isOver: false };
    const service = await monitorService(
      { databaseUrl: ways[0].url, now: this.#now, log: this.#logOf(life) },
      { direct: ways[1], line },
    );
    const monitor: Monitor = await Replica.serve(service, ways, () => {
      life.isOver = true;
      line.release(true);
      this.monitors = this.monitors.filter((one) => one !== monitor);
      this.#replace(monitor, () => this.#startMonitor());
    });
    this.monitors.push(monitor);
  }

  async #startApi(): Promise<void> {
    const way = await startCutProxy(this.#options.database.url);
    const life = { isOver: false };
    const service = await hostedService({ databaseUrl: way.url, now: this.#now, log: this.#logOf(life) });
    const api: Replica = await Replica.serve(service, [way], () => {
      life.isOver = true;
      this.#apis = this.#apis.filter((one) => one !== api);
      this.#replace(api, () => this.#startApi());
    });
    this.#apis.push(api);
  }

  #replace(dead: Replica<Service>, start: () => Promise<void>): void {
    const before = this.#starting;
    this.#starting = Promise.all([before, dead.noticed()]).then(start);
    this.#burials.push(dead.stop());
  }

  readonly #now = (): Date => this.#options.database.clock.now ?? new Date();

  /** Errors of the living are noted: nothing that a replica swallows goes unseen. */
  #logOf(life: { isOver: boolean }): Logger {
    const note = (message: string, fields: Record<string, unknown> = {}) => {
      if (!life.isOver) this.complaints.push(`${message}: ${String(fields.error ?? JSON.stringify(fields))}`);
    };
    const log: Logger = { ...silentLogger, error: note, fatal: note, child: () => log };
    return log;
  }
}
