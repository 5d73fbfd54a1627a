import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { hostedSurface, monitorSurface } from '@pipeline/contract';
import { openSurface, PropertySuite, propertyText } from '@pipeline/contract-tests';
import { ensureTenant, insertConnection, insertToken, insertUser, insertWorkerToken } from '@pipeline/store';
import { testDatabase } from '@pipeline/testing';
import { type Service, startService } from './replicas/service.ts';

/** The same requests each time. A larger run on a running stack is described in libs/contract-tests/README.md. */
const SEED = 20_261_122;
const RUNS = 600;
const WORKER_TOKEN = `wrk_at_${'t'.repeat(43)}`;
const SECRET = 'a secret of the tests';
const OPERATOR = { username: 'operator', password: 'a password of the tests' };
const UNLIMITED = {
  ...{ ADDRESS_RATE_LIMIT: '0', CONNECTION_RATE_LIMIT: '0', LOGIN_RATE_LIMIT: '0', MCP_RATE_LIMIT: '0' },
  ...{ ORG_RATE_LIMIT: '0', REGISTRATION_RATE_LIMIT: '0', TOKEN_RATE_LIMIT: '0', WORKER_RATE_LIMIT: '0' },
  ...{ LOGIN_ATTEMPTS: '0', REQUESTS_PER_MINUTE: '0' },
};
const CONFIG = `
agents: {monitor: {auth: {username: ${OPERATOR.username}, passwordEnv: MONITOR_PASSWORD}}}
repos: [{slug: acme/shop, branch: main}]
`;

const services: Service[] = [];
const folder = mkdtempSync(join(tmpdir(), 'contract-config-'));
afterAll(async () => {
  await Promise.all(services.map((service) => service.kill()));
  rmSync(folder, { recursive: true, force: true });
});
const database = testDatabase();

async function start(name: 'hosted-api' | 'monitor', env: Record<string, string>): Promise<string> {
  const service = await startService(name, {
    DATABASE_URL: database.url,
    DATABASE_POOL_SIZE: '4',
    ...UNLIMITED,
    ...env,
  });
  services.push(service);
  return service.url;
}

beforeAll(async () => {
  const tenantId = await ensureTenant(database.store.tenant, 'default');
  const tokenHash = createHash('sha256').update(WORKER_TOKEN).digest('hex');
  await insertWorkerToken(database.store.tenant, { tenantId, name: 'contract', tokenHash, repoIds: null });
  writeFileSync(join(folder, 'pipeline.yaml'), CONFIG);
}, 60_000);

/** A connection to the API at the address. @returns its access token. */
async function connect(resource: string): Promise<string> {
  const db = database.store.tenant;
  const tenantId = await ensureTenant(db, 'default');
  const user = { email: `${randomBytes(4).toString('hex')}@example.org`, name: 'Test', passwordHash: 'none' };
  const userId = await insertUser(db, { ...user, tenantId, role: 'owner' });
  const id = `conn_${randomBytes(16).toString('base64url')}`;
  const ttlMs = 3_600_000;
  const client = { clientId: 'dcr_test', clientName: 'Test', scope: 'pipeline:read', payload: {} };
  await insertConnection(db, { id, tenantId, userId, resource, ttlMs, ...client });
  const token = `mcp_at_${randomBytes(32).toString('base64url')}`;
  const hash = createHash('sha256').update(token).digest();
  await insertToken(db, { hash, kind: 'AccessToken', connectionId: id, payload: {}, ttlMs });
  return token;
}

test('both services answer generated requests as they declare', async () => {
  const PUBLIC_URL = 'http://localhost:8080';
  const [hosted, monitor] = await Promise.all([
    start('hosted-api', { PUBLIC_URL, GITHUB_WEBHOOK_SECRET: SECRET }),
    start('monitor', { PIPELINE_CONFIG: join(folder, 'pipeline.yaml'), MONITOR_PASSWORD: OPERATOR.password }),
  ]);
  const refusedTokens = [await connect('https://elsewhere.example.org/api')];
  const token = await connect(`${PUBLIC_URL}/api`);
  const given = { token, workerToken: WORKER_TOKEN, operator: OPERATOR, webhookSecret: SECRET, refusedTokens };
  const common = { given, webhookSecret: SECRET, timeoutMs: 30_000, longestRetrySeconds: 0 };
  const surfaces = await Promise.all([
    openSurface({ url: hosted, surface: hostedSurface, ...common }),
    openSurface({ url: monitor, surface: monitorSurface, ...common }),
  ]);
  const options = { runs: RUNS, seed: SEED, write: true, only: [], skip: new Map(), concurrency: 4, guesses: 100_000 };
  const result = await new PropertySuite(surfaces, options).run();
  const targetOf = (name: string) => surfaces[name === 'hosted' ? 0 : 1].target;
  expect(result.findings.length === 0 ? '' : propertyText(result, targetOf)).toBe('');
  expect(result.tally.requests).toBeGreaterThanOrEqual(RUNS);
  expect(result.skipped).toEqual({});
}, 300_000);
