/** Both services as processes, on a store with the history of two repos, with credentials of every kind. */
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';
import { hostedSurface, monitorSurface } from '@pipeline/contract';
import { openSurface } from '@pipeline/contract-tests';
import { DEFAULT_SETTINGS } from '@pipeline/domain';
import { admin, hashPassword } from '@pipeline/engine';
import { type Db, insertConnection, insertToken, insertUser, insertWorkerToken } from '@pipeline/store';
import { type TestDatabase, testDatabase } from '@pipeline/testing';
import { simulateHistory } from '@pipeline/testing/history';
import { until } from '@pipeline/testing/until';
import { type Service, startService } from '../replicas/service.ts';
import { UNLIMITED } from './unlimited.ts';

const PUBLIC_URL = 'http://localhost:8080';
const WORKER_TOKEN = `wrk_at_${'t'.repeat(43)}`;
const SECRET = 'a secret of the tests';
const OPERATOR = { username: 'operator', password: 'a password of the tests' };
const CONFIG = `agents: {monitor: {auth: {username: ${OPERATOR.username}, passwordEnv: MONITOR_PASSWORD}}}\n`;
const HISTORY = { tenants: 1, repos: 2, days: 3, issues: 60, seed: 1 };

/** A repo of the history, which tests may change. */
export const SCRATCH = 'acme/repo-1';

interface TargetOptions {
  /** Repos of the history are dealt out to them in turn; credentials are those of the first. */
  tenants?: number;
  repos?: number;
  /** Called before the services start. */
  prepare?: (database: TestDatabase) => Promise<void>;
}

/** Starts the services for the tests of a file; `open` addresses them, or what stands before them. */
export function contractTarget({ prepare, ...size }: TargetOptions = {}) {
  const services: Service[] = [];
  const folder = mkdtempSync(join(tmpdir(), 'contract-config-'));
  afterAll(async () => {
    await Promise.all(services.map((service) => service.kill()));
    rmSync(folder, { recursive: true, force: true });
  });
  const database = testDatabase();
  const urls = { hosted: '', monitor: '' };
  const client = { clientId: '', clientSecret: '' };
  const login = { email: '', password: 'the password of a member' };
  const tokens = { access: '', elsewhere: '', worker: WORKER_TOKEN };

  const start = async (name: 'hosted-api' | 'monitor', env: Record<string, string>): Promise<string> => {
    const common = { DATABASE_URL: database.url, DATABASE_POOL_SIZE: '4', ...UNLIMITED };
    const service = await startService(name, { ...common, ...env });
    services.push(service);
    return service.url;
  };

  beforeAll(async () => {
    const { tenants } = await simulateHistory(database.db, { ...HISTORY, ...size, end: new Date() });
    const tenantId = tenants[0]?.id ?? 0;
    const tokenHash = createHash('sha256').update(WORKER_TOKEN).digest('hex');
    await insertWorkerToken(database.store.db, { tenantId, name: 'contract', tokenHash, repoIds: null });
    tokens.access = await connect(database, tenantId, `${PUBLIC_URL}/api`);
    tokens.elsewhere = await connect(database, tenantId, 'https://elsewhere.example.org/api');
    Object.assign(client, await credentialsOf(database, tenants[0]?.externalId ?? '', tenantId));
    login.email = (await insertOwner(database.store.db, tenantId, await hashPassword(login.password))).email;
    const config = join(folder, 'pipeline.yaml');
    writeFileSync(config, CONFIG);
    await prepare?.(database);
    [urls.hosted, urls.monitor] = await Promise.all([
      start('hosted-api', { PUBLIC_URL, GITHUB_WEBHOOK_SECRET: SECRET }),
      start('monitor', { PIPELINE_CONFIG: config, MONITOR_PASSWORD: OPERATOR.password }),
    ]);
    for (const url of Object.values(urls))
      await until(`${url} is ready`, async () => (await fetch(`${url}/ready`)).ok, 60_000);
  }, 120_000);

  /** Both surfaces, at the services' own addresses or at others. */
  const open = (at: Partial<typeof urls> = {}, { timeoutMs = 30_000, hasLogin = true } = {}) => {
    const given = {
      token: () => tokens.access,
      client,
      ...(hasLogin && { login }),
      workerToken: WORKER_TOKEN,
      operator: OPERATOR,
      webhookSecret: SECRET,
    };
    const common = { webhookSecret: SECRET, timeoutMs, longestRetrySeconds: 0 };
    const options = { ...common, given: { ...given, refusedTokens: [tokens.elsewhere] } };
    return Promise.all([
      openSurface({ url: at.hosted ?? urls.hosted, surface: hostedSurface, ...options }),
      openSurface({ url: at.monitor ?? urls.monitor, surface: monitorSurface, ...options }),
    ]);
  };
  return { open, urls, tokens, client, login, database, OPERATOR };
}

async function insertOwner(db: Db, tenantId: number, passwordHash = 'none') {
  const user = { email: `${randomBytes(4).toString('hex')}@example.org`, name: 'Test', passwordHash };
  return { ...user, id: await insertUser(db, { ...user, tenantId, role: 'owner' }) };
}

/** A client with a secret that reads for an owner. */
async function credentialsOf({ store }: TestDatabase, org: string, tenantId: number) {
  const { email } = await insertOwner(store.db, tenantId);
  const engine = { store, notify: () => undefined, settings: () => DEFAULT_SETTINGS, random: Math.random };
  const by = { engine, actor: 'test', reason: null };
  return admin.createCredentials(by, { org, email, name: 'Contract tests', expires: '1d' });
}

/** A connection of an owner to the API at the address. @returns its access token. */
async function connect({ store: { db } }: TestDatabase, tenantId: number, resource: string): Promise<string> {
  const { id: userId } = await insertOwner(db, tenantId);
  const id = `conn_${randomBytes(16).toString('base64url')}`;
  const ttlMs = 3_600_000;
  const client = { clientId: 'dcr_test', clientName: 'Test', scope: 'pipeline:read', payload: {} };
  await insertConnection(db, { id, tenantId, userId, resource, ttlMs, ...client });
  const token = `mcp_at_${randomBytes(32).toString('base64url')}`;
  const hash = createHash('sha256').update(token).digest();
  await insertToken(db, { hash, kind: 'AccessToken', connectionId: id, payload: {}, ttlMs });
  return token;
}

/** Options of a run for which a test names no others. */
export const SELECTION = {
  suite: [],
  only: [],
  skip: [],
  write: false,
  seed: 20_261_122,
  runs: 600,
  concurrency: 4,
  guesses: 100_000,
} as const;
