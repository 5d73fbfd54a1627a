import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  ensureTenant,
  insertConnection,
  insertToken,
  insertUser,
  insertWorkerToken,
  migrateToLatest,
  openStore,
  type Store,
} from '@pipeline/store';
import { BOT, type Host, SECRET, SLUG, startHost } from '../../test/replicas/host.ts';
import { type Service, startService } from '../../test/replicas/service.ts';

/** The read API is reached at another address; tokens are issued for this one. */
const PUBLIC_URL = 'http://127.0.0.1';
const DAY_MS = 24 * 60 * 60_000;
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
  /** Token of a worker. */
  token: string;
  /** Token of a connection that may read all repos. */
  readToken: string;
  stop(): Promise<void>;
}

interface DeploymentOptions {
  folder: string;
  /** URL of the primary alone, for the migration. */
  ownerUrl: string;
  /** Environment of both services. */
  env: Record<string, string>;
  /** Replicas of each service. */
  replicas?: number;
  /** Lines that are added to the configuration of the monitors. */
  settings?: string;
}

/** Returns the path of the configuration of the monitors in the folder of a deployment. */
export const configIn = (folder: string): string => join(folder, 'pipeline.yaml');

export async function startDeployment(options: DeploymentOptions): Promise<Deployment> {
  const { folder, ownerUrl, env, replicas = 2, settings = '' } = options;
  mkdirSync(folder, { recursive: true });
  const config = configIn(folder);
  writeFileSync(config, CONFIG + settings);
  await migrateToLatest(ownerUrl);
  const readToken = await insertTokens(ownerUrl);
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
    const apis = await start('hosted-api', { GITHUB_WEBHOOK_SECRET: SECRET, PUBLIC_URL });
    host.hooks.push(...apis.map(({ url }) => url));
    const access = { SANDBOX_URL: host.sandbox.url, SANDBOX_TOKEN: BOT.token };
    const monitors = await start('monitor', { PIPELINE_CONFIG: config, ...access });
    return { host, apis, monitors, token: TOKEN, readToken, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** @returns the token of a connection. */
async function insertTokens(databaseUrl: string): Promise<string> {
  const store = openStore({ databaseUrl, applicationName: 'e2e', poolSize: 2, onConnectionError: () => undefined });
  const tenantId = await ensureTenant(store.db, 'default');
  const tokenHash = createHash('sha256').update(TOKEN).digest('hex');
  await insertWorkerToken(store.db, { tenantId, name: 'rover', tokenHash, repoIds: null });
  const readToken = await connect(store, tenantId);
  await store.close();
  return readToken;
}

async function connect({ db }: Store, tenantId: number): Promise<string> {
  const user = { email: 'owner@example.org', name: 'Owner', passwordHash: 'none', tenantId, role: 'owner' } as const;
  const userId = await insertUser(db, user);
  const connectionId = `conn_${randomBytes(16).toString('base64url')}`;
  const client = { clientId: 'dcr_e2e', clientName: 'e2e', resource: `${PUBLIC_URL}/api`, scope: 'pipeline:read' };
  await insertConnection(db, { id: connectionId, tenantId, userId, ...client, payload: {}, ttlMs: DAY_MS });
  const token = `mcp_at_${randomBytes(32).toString('base64url')}`;
  const hash = createHash('sha256').update(token).digest();
  await insertToken(db, { hash, kind: 'AccessToken', connectionId, payload: {}, ttlMs: DAY_MS });
  return token;
}
