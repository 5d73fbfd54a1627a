import { expect } from '@jest/globals';
import { type Client, createClient } from '@pipeline/contract';
import type { VcsHost } from '@pipeline/domain';
import { type Logger, silentLogger } from '@pipeline/runtime';
import { type ConnectionFault, startCutProxy, type TestDatabase } from '@pipeline/testing';
import { HostConnection } from './host-connection.ts';
import { hostedService } from './hosted.ts';
import { BASIC, type MonitorService, monitorService } from './monitor.ts';
import { Replica } from './replica.ts';
import type { Service } from './service.ts';

type Monitor = Replica<MonitorService>;

/** A call got no response, because the replica crashed. */
export class Unanswered extends Error {}

interface ClusterOptions {
  database: TestDatabase;
  /** Token of a worker. */
  token: string;
  /** Returns the host of the current run. */
  host: () => VcsHost;
}

/** Two monitors and two hosted APIs on one database. A crashed one is replaced. */
export class Cluster {
  monitors: Monitor[] = [];
  /** Logged errors of replicas before their crash. */
  readonly complaints: string[] = [];
  readonly #options: ClusterOptions;
  readonly #clients: Record<'monitor' | 'hosted-api', { authorization: string }>;
  #apis: Replica[] = [];
  #turns: readonly number[] = [0];
  #turn = 0;
  #crash: ConnectionFault | null = null;
  #starting: Promise<unknown> = Promise.resolve();
  readonly #stopping: Promise<unknown>[] = [];

  constructor(options: ClusterOptions) {
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
    await Promise.all(this.#stopping);
    await Promise.all([...this.monitors, ...this.#apis].map((replica) => replica.stop()));
  }

  /** @param turns order of the replicas that get the calls, repeated: 0 = first, 1 = second. */
  begin(turns: readonly number[]): void {
    this.#turns = turns;
    this.#turn = 0;
    this.#crash = null;
    this.complaints.length = 0;
  }

  /** The replica that gets the next call crashes at its next commit. */
  crash(at: ConnectionFault): void {
    this.#crash = at;
  }

  /** Settles when there are two of each. */
  async whole(): Promise<void> {
    while (this.monitors.length < 2 || this.#apis.length < 2) await this.#starting;
  }

  /** Returns the next bit of `turns`. */
  flip(): boolean {
    this.#turn += 1;
    return this.#turns[this.#turn % this.#turns.length] === 1;
  }

  /** Calls one of the two replicas. @throws Unanswered when it crashed. */
  async request<T>(kind: 'monitor' | 'hosted-api', call: (client: Client) => Promise<T>): Promise<T> {
    await this.whole();
    const replica = this.#inOrder<Replica>(kind === 'monitor' ? this.monitors : this.#apis)[0];
    try {
      return await call(createClient({ baseUrl: replica.url, headers: this.#clients[kind] }));
    } catch (error) {
      if (replica.isDead) throw new Unanswered('', { cause: error });
      throw error;
    }
  }

  /** Returns the responses of both monitors. */
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

  /** Runs one round of these loops on both monitors, in sequence or concurrently. */
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
    // The replacement finishes the work of a crashed replica.
    if (first.isDead || second.isDead) await this.#tick(all, loops);
  }

  /** The first one gets the crash. */
  #inOrder<R extends Replica>(replicas: readonly R[]): [R, R] {
    const [one, two] = replicas;
    if (!one || !two) throw new Error('there are not two of them');
    const order: [R, R] = this.flip() ? [two, one] : [one, two];
    if (this.#crash) order[0].crashAtCommit(this.#crash);
    this.#crash = null;
    return order;
  }

  async #startMonitor(): Promise<void> {
    const { database, host } = this.#options;
    const proxies = await Promise.all([startCutProxy(database.url), startCutProxy(database.url)]);
    const connection = new HostConnection(host);
    const life = { isOver: false };
    const service = await monitorService(
      { databaseUrl: proxies[0].url, now: this.#now, log: this.#logOf(life) },
      { direct: proxies[1], connection },
    );
    const monitor: Monitor = await Replica.serve(service, proxies, () => {
      life.isOver = true;
      connection.release(true);
      this.monitors = this.monitors.filter((one) => one !== monitor);
      this.#replace(monitor, () => this.#startMonitor());
    });
    this.monitors.push(monitor);
  }

  async #startApi(): Promise<void> {
    const proxy = await startCutProxy(this.#options.database.url);
    const life = { isOver: false };
    const service = await hostedService({ databaseUrl: proxy.url, now: this.#now, log: this.#logOf(life) });
    const api: Replica = await Replica.serve(service, [proxy], () => {
      life.isOver = true;
      this.#apis = this.#apis.filter((one) => one !== api);
      this.#replace(api, () => this.#startApi());
    });
    this.#apis.push(api);
  }

  #replace(dead: Replica<Service>, start: () => Promise<void>): void {
    const before = this.#starting;
    this.#starting = Promise.all([before, dead.noticed()]).then(start);
    this.#stopping.push(dead.stop());
  }

  readonly #now = (): Date => this.#options.database.clock.now ?? new Date();

  /** Records the errors of running replicas, so that a handled error is not missed. */
  #logOf(life: { isOver: boolean }): Logger {
    const record = (message: string, fields: Record<string, unknown> = {}) => {
      if (!life.isOver) this.complaints.push(`${message}: ${String(fields.error ?? JSON.stringify(fields))}`);
    };
    const log: Logger = { ...silentLogger, error: record, fatal: record, child: () => log };
    return log;
  }
}
