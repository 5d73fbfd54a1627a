import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { UNLIMITED } from '../../test/contract/unlimited.ts';
import { BOT, type Host, SECRET, SLUG } from '../../test/replicas/host.ts';
import type { Service } from '../../test/replicas/service.ts';
import { poll } from '../poll.ts';
import type { Release } from './release.ts';

const READY_WITHIN_MS = 120_000;
const PASSWORD = 'a password of the operator';
const CONFIG = `
agents: {monitor: {auth: {username: operator, passwordEnv: MONITOR_PASSWORD}}}
repos: [{slug: ${SLUG}, vcs: sandbox, branch: main, checks: none}]
`;
const POLL_OFTEN = 'pollIntervals: {sprintMaster: 2, monitor: 1}\n';

export const OPERATOR = { username: 'operator', password: PASSWORD } as const;

/** One of each service, of one version. */
export interface Replica {
  release: Release;
  services: Record<'hosted-api' | 'monitor', Service>;
}

interface RolloutOptions {
  folder: string;
  databaseUrl: string;
  host: Host;
  /** True (default) = the services poll every second or two, so that nothing waits for a poll. */
  pollsOften?: boolean;
}

/** Replicas of both services on one store, each service behind one address. */
export class Rollout {
  readonly balancers = { 'hosted-api': new Balancer(), monitor: new Balancer() };
  readonly #env: Record<'hosted-api' | 'monitor', Record<string, string>>;
  readonly #running = new Set<Service>();

  constructor({ folder, databaseUrl, host, pollsOften = true }: RolloutOptions) {
    const config = join(folder, 'pipeline.yaml');
    writeFileSync(config, pollsOften ? CONFIG + POLL_OFTEN : CONFIG);
    const common = { ...UNLIMITED, DATABASE_URL: databaseUrl, DATABASE_POOL_SIZE: '5' };
    this.#env = {
      'hosted-api': { ...common, GITHUB_WEBHOOK_SECRET: SECRET, PUBLIC_URL: 'http://localhost:8080' },
      monitor: {
        ...common,
        PIPELINE_CONFIG: config,
        MONITOR_PASSWORD: PASSWORD,
        SANDBOX_URL: host.sandbox.url,
        SANDBOX_TOKEN: BOT.token,
      },
    };
  }

  get urls() {
    return { hosted: this.balancers['hosted-api'].url, monitor: this.balancers.monitor.url };
  }

  async listen(): Promise<void> {
    await Promise.all(Object.values(this.balancers).map((balancer) => balancer.listen()));
  }

  /** Starts one of each service; they get requests as soon as they are ready. */
  async start(release: Release): Promise<Replica> {
    const [hosted, monitor] = await Promise.all([this.#start('hosted-api', release), this.#start('monitor', release)]);
    return { release, services: { 'hosted-api': hosted, monitor } };
  }

  /** Ends one service after the other with SIGTERM, without notice to clients and proxies. @returns the exit statuses. */
  async stop({ services }: Replica): Promise<(number | null)[]> {
    const statuses: (number | null)[] = [];
    for (const name of ['hosted-api', 'monitor'] as const) {
      const service = services[name];
      statuses.push(await service.stop());
      this.balancers[name].upstreams.delete(service.url);
      this.#running.delete(service);
    }
    return statuses;
  }

  async close(): Promise<void> {
    for (const balancer of Object.values(this.balancers)) balancer.close();
    await Promise.all([...this.#running].map((service) => service.kill()));
  }

  async #start(name: 'hosted-api' | 'monitor', release: Release): Promise<Service> {
    const service = await release.start(name, this.#env[name]);
    this.#running.add(service);
    const isReady = async () => (await fetch(`${service.url}/ready`).catch(() => null))?.ok === true;
    await poll(`${name} of ${release.name} is ready`, isReady, { withinMs: READY_WITHIN_MS });
    this.balancers[name].upstreams.add(service.url);
    return service;
  }
}

/**
 * One address for the replicas of a service: each connection goes to the next replica, and from one that refuses it to
 * another, as with a proxy that has no notice of a restart.
 */
class Balancer {
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
