import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BOT, type Host, SECRET, SLUG } from './host.ts';
import { type Service, startService } from './service.ts';

const CONFIG = `
agents: {}
repos: [{slug: ${SLUG}, vcs: sandbox, branch: main}]
pollIntervals: {sprintMaster: 1, monitor: 1}
`;

/** Two hosted APIs and two monitors on one database. Whoever calls one of a kind is given them in turn. */
export class Fleet {
  readonly #folder = mkdtempSync(join(tmpdir(), 'replicas-config-'));
  readonly #databaseUrl: string;
  readonly #host: Host;
  readonly #services: Record<Kind, Service[]> = { monitor: [], 'hosted-api': [] };
  #turns = 0;

  constructor(databaseUrl: string, host: Host) {
    this.#databaseUrl = databaseUrl;
    this.#host = host;
    writeFileSync(join(this.#folder, 'pipeline.yaml'), CONFIG);
  }

  async start(): Promise<void> {
    const kinds: Kind[] = ['hosted-api', 'hosted-api', 'monitor', 'monitor'];
    await Promise.all(kinds.map(async (kind) => this.#services[kind].push(await this.#one(kind))));
    this.#aimWebhooks();
  }

  /** The address of one of them, another one each time. */
  next(kind: Kind): string {
    this.#turns += 1;
    const services = this.#services[kind];
    return services[this.#turns % services.length]?.url ?? '';
  }

  /** kill -9 of one of them, at whatever it does; another one starts in its place while the second one serves. */
  async kill(kind: Kind): Promise<void> {
    const victim = this.#services[kind].shift();
    this.#aimWebhooks();
    await victim?.kill();
    this.#services[kind].push(await this.#one(kind));
    this.#aimWebhooks();
  }

  async stop(): Promise<void> {
    await Promise.all(Object.values(this.#services).flatMap((services) => services.map((service) => service.kill())));
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #aimWebhooks(): void {
    this.#host.hooks.splice(0, 2, ...this.#services['hosted-api'].map(({ url }) => url));
  }

  #one(kind: Kind): Promise<Service> {
    const common = { DATABASE_URL: this.#databaseUrl, DATABASE_POOL_SIZE: '4' };
    if (kind === 'hosted-api') return startService(kind, { ...common, GITHUB_WEBHOOK_SECRET: SECRET });
    const own = { PIPELINE_CONFIG: join(this.#folder, 'pipeline.yaml') };
    return startService(kind, { ...common, ...own, SANDBOX_URL: this.#host.sandbox.url, SANDBOX_TOKEN: BOT.token });
  }
}

export type Kind = 'monitor' | 'hosted-api';
