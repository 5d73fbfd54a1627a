import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureTenant, insertWorkerToken, migrateToLatest, openStore } from '@pipeline/store';
import { BOT, type Host, SECRET, SLUG, startHost } from '../../test/replicas/host.ts';
import { type Service, startService } from '../../test/replicas/service.ts';

const TOKEN = `wrk_at_${'t'.repeat(43)}`;
const CONFIG = `
agents: {}
repos: [{slug: ${SLUG}, vcs: sandbox, branch: main, checks: none}]
pollIntervals: {sprintMaster: 2, monitor: 1}
`;

/** Two of each service on one store, with a sandbox host. */
export interface Deployment {
  host: Host;
  apis: Service[];
  monitors: Service[];
  /** Of a worker. */
  token: string;
  stop(): Promise<void>;
}

interface DeploymentOptions {
  folder: string;
  /** To the primary alone, for the migration. */
  ownerUrl: string;
  /** Environment of both services. */
  env: Record<string, string>;
  /** Replicas of each service. */
  replicas?: number;
}

export async function startDeployment({ folder, ownerUrl, env, replicas = 2 }: DeploymentOptions): Promise<Deployment> {
  mkdirSync(folder, { recursive: true });
  const config = join(folder, 'pipeline.yaml');
  writeFileSync(config, CONFIG);
  await migrateToLatest(ownerUrl);
  await insertToken(ownerUrl);
  const host = await startHost();
  const services: Service[] = [];
  const start = async (name: 'hosted-api' | 'monitor', own: Record<string, string>) => {
    const started: Service[] = [];
    for (let n = 0; n < replicas; n += 1) started.push(await startService(name, { ...env, ...own }));
    services.push(...started);
    return started;
  };
  const stop = async () => {
    await Promise.all(services.map((service) => service.kill()));
    await host.stop();
  };
  try {
    const apis = await start('hosted-api', { GITHUB_WEBHOOK_SECRET: SECRET });
    host.hooks.push(...apis.map(({ url }) => url));
    const access = { SANDBOX_URL: host.sandbox.url, SANDBOX_TOKEN: BOT.token };
    const monitors = await start('monitor', { PIPELINE_CONFIG: config, ...access });
    return { host, apis, monitors, token: TOKEN, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function insertToken(databaseUrl: string): Promise<void> {
  const store = openStore({ databaseUrl, applicationName: 'e2e', poolSize: 2, onConnectionError: () => undefined });
  const tenantId = await ensureTenant(store.tenant, 'default');
  const tokenHash = createHash('sha256').update(TOKEN).digest('hex');
  await insertWorkerToken(store.tenant, { tenantId, name: 'rover', tokenHash, repoIds: null });
  await store.close();
}
