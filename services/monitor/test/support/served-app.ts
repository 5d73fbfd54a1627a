import { checkedFetch, monitorSurface } from '@pipeline/contract';
import type { ConsistencyFinding, DeadLetter } from '@pipeline/domain';
import { listen } from '@pipeline/http';
import { createMetrics, silentLogger } from '@pipeline/runtime';
import { StoreWatch } from '@pipeline/store';
import { closedWithFile } from '@pipeline/testing/closing';
import { supertestFetch } from '@pipeline/testing/supertest-fetch';
import { dashboardWithoutStore } from '../../src/analytics/dashboard.ts';
import { createAuthentication } from '../../src/auth/authentication.ts';
import type { Credentials } from '../../src/auth/credentials.ts';
import { ListCache } from '../../src/polling/list-cache.ts';
import { PolledValue } from '../../src/polling/polled-value.ts';
import { createMonitorApp, type MonitorApp } from '../../src/process/app.ts';
import { loadConfig } from '../../src/settings/config.ts';
import { ConfigInForce } from '../../src/settings/config-in-force.ts';
import { EventFeed } from '../../src/stream/event-feed.ts';

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  json: never;
}

export type Call = (
  method: string,
  path: string,
  init?: { body?: unknown; headers?: Record<string, string> },
) => Promise<Answer>;

/** Calls a surface; every answer is held to the contract. */
export const callerOf = (url: string): Call => {
  const checked = checkedFetch(monitorSurface, supertestFetch);
  return async (method, path, { body, headers } = {}) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const response = await checked.fetch(url + path, {
      method,
      ...(headers && { headers }),
      ...(text && { body: text }),
    });
    const answer = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json');
    return {
      status: response.status,
      headers: response.headers,
      text: answer,
      json: isJson ? JSON.parse(answer) : null,
    } as Answer;
  };
};

type Connected = NonNullable<MonitorApp['pipeline']>;
interface Over extends Omit<Partial<MonitorApp>, 'pipeline'> {
  pipeline?: Pick<Connected, 'engine' | 'storeWatch'> & Partial<Connected>;
}

const emptyCache = <T>() =>
  new ListCache<T>(
    async () => ({ items: [], total: 0 }),
    () => new Date(),
  );

const neverPolled = <T>() =>
  new PolledValue<T>(
    () => Promise.reject(new Error('nothing is polled here')),
    () => new Date(),
  );

const nothingYet = ({ store }: Connected['engine']) => ({
  deadLetters: emptyCache<DeadLetter>(),
  consistency: emptyCache<ConsistencyFinding>(),
  blocked: neverPolled<never>(),
  taskQueue: neverPolled<never>(),
  kpis: neverPolled<never>(),
  hostOf: () => null,
  hostOfKind: async () => null,
  repos: neverPolled<never>(),
  feed: new EventFeed({ store, uptime: () => 1, now: () => new Date() }),
});

/** Any user may log in, ten times in five minutes. */
export const authOf = (logins: readonly Credentials[] | null, now = () => new Date()) =>
  createAuthentication({ logins, loginAttempts: 10, now });

/** Variables that a configuration may name. */
const VARIABLES = { HOOK_SECRET: 'secret', SLACK_URL: 'https://slack.example/x' };

/** The configuration of a file; without one the built-in default. */
export async function configOf(path?: string): Promise<ConfigInForce> {
  const loaded = await loadConfig(path, VARIABLES);
  return new ConfigInForce({ loaded, path, variables: VARIABLES, log: silentLogger, now: () => new Date() });
}

/**
 * The app on a free port, open to all and without a store unless configured otherwise; lists are empty unless given.
 */
export async function serveApp({ pipeline, ...over }: Over = {}) {
  const now = over.now ?? (() => new Date());
  const config = await configOf();
  const database = { host: null, port: 5432, poolSize: 1 };
  const registry = over.registry ?? createMetrics().registry;
  const app = createMonitorApp({
    auth: authOf(null, now),
    config: {
      summary: () => ({ config, database, connected: false, isSet: () => false, agents: [], uptime: 1 }),
      reports: async () => [],
      repos: async () => [],
    },
    dashboard: dashboardWithoutStore(now),
    pipeline: pipeline ? { ...nothingYet(pipeline.engine), ...pipeline } : null,
    readiness: () => ({
      status: 'ready',
      store: 'not-configured',
      poll: 'off',
      outbox: 'off',
      stream: 'off',
      loops: [],
    }),
    logs: null,
    webDir: '/nonexistent',
    requestsPerMinute: 0,
    streamLimits: { perCredential: 0, inAll: 0 },
    trustedProxies: 0,
    answerCheck: 'throw',
    log: silentLogger,
    registry,
    metricsKeptMs: 0,
    now,
    ...over,
  });
  const { url, close } = await listen(app, { host: '127.0.0.1', port: 0 });
  return { url, call: callerOf(url), close: closedWithFile(close) };
}

/** Operator that `serveConnected` accepts. */
export const OLGA = { username: 'olga', password: 'pw' };

/** The app on the engine's store, which has been checked; calls come from the operator olga unless they name another. */
export async function serveConnected(
  pipeline: Pick<Connected, 'engine'> & Partial<Connected>,
  over: Omit<Partial<MonitorApp>, 'pipeline'> = {},
) {
  const storeWatch = new StoreWatch({ store: pipeline.engine.store, log: silentLogger });
  await storeWatch.check();
  const auth = authOf([OLGA]);
  const served = await serveApp({ ...over, auth, pipeline: { storeWatch, ...pipeline } });
  const authorization = `Basic ${Buffer.from(`${OLGA.username}:${OLGA.password}`).toString('base64')}`;
  const call: Call = (method, path, init) => served.call(method, path, { headers: { authorization }, ...init });
  return { ...served, call, storeWatch };
}
