import { BlockList, isIPv6 } from 'node:net';
import { hostname } from 'node:os';
import { AppError } from '@pipeline/domain';
import { loginAudit } from '@pipeline/engine';
import { listen } from '@pipeline/http';
import { type Logger, requireAppKey, type ServiceContext, StartError } from '@pipeline/runtime';
import { enabledReposWithTenant, reloadReports, requireStore } from '@pipeline/store';
import { type Dashboard, dashboardWithoutStore } from '../analytics/dashboard.ts';
import { type Authentication, createAuthentication } from '../auth/authentication.ts';
import type { Credentials } from '../auth/credentials.ts';
import { type ConnectedHost, connectHosts, type HostAccess, type HostKind } from '../hosts/hosts.ts';
import { WriteBudget } from '../hosts/write-budget.ts';
import { LogIndex } from '../logs/log-index.ts';
import type { ConfigRouteDeps } from '../routes/settings.ts';
import { type LoadedConfig, loadConfig, type Variables } from '../settings/config.ts';
import { ConfigInForce } from '../settings/config-in-force.ts';
import { placeOf } from '../settings/config-summary.ts';
import { traceEndpoint } from '../tracing/trace-endpoint.ts';
import { watchAgentsWithoutStore } from '../workers/agents-without-store.ts';
import { createMonitorApp } from './app.ts';
import type { MonitorEnv } from './env.ts';
import { createPipeline, type Pipeline, readinessOf } from './pipeline.ts';

type Context = Pick<ServiceContext<MonitorEnv>, 'env' | 'log' | 'metrics' | 'stack' | 'onHangup'>;

const now = () => new Date();

/** No server scrapes that often, but several servers may scrape at a time. */
const METRICS_KEPT_MS = 1_000;

/**
 * Starts the monitor.
 * @param variables where the password variable that the configuration names is looked up.
 * @param webDir the built dashboard; a placeholder is served where it does not exist.
 * @returns its address, once it serves. What it started is registered in `stack`.
 * @throws StartError for a bad configuration, an open address without logins, an old schema, a taken port.
 */
export async function startMonitor(context: Context, variables: Variables, webDir: string): Promise<string> {
  const { env, log, metrics, stack } = context;
  const loaded = await configOf(env, variables);
  const config = new ConfigInForce({ loaded, path: env.PIPELINE_CONFIG, variables, log, now });
  const logins = credentialsOf(loaded, variables);
  if (logins === null) requireLoopback(env);
  const pipeline = await pipelineOf(context, config, variables);
  const dashboard = pipeline?.dashboard ?? dashboardOf(context, config);
  const app = createMonitorApp({
    auth: authenticationOf(context, logins, pipeline),
    pipeline,
    dashboard,
    readiness: () => readinessOf(pipeline),
    config: configRouteOf({ env, config, pipeline, variables, dashboard }),
    logs: env.LOG_DIR === undefined ? null : new LogIndex(env.LOG_DIR),
    webDir,
    requestsPerMinute: env.REQUESTS_PER_MINUTE,
    streamLimits: { perCredential: env.STREAMS_PER_CREDENTIAL, inAll: env.STREAMS_IN_ALL },
    trustedProxies: env.TRUSTED_PROXIES,
    ownOrigins: env.MONITOR_URL === undefined ? [] : [new URL(env.MONITOR_URL).origin],
    hostNames: logins === null ? ownNames(env) : undefined,
    answerCheck: 'log',
    log,
    registry: metrics.registry,
    metricsKeptMs: METRICS_KEPT_MS,
    now,
  });
  const served = await listen(app, { host: env.HOST, port: env.PORT });
  stack.add('http server', served.close);
  // Before the server waits for responses in progress: event streams never end by themselves.
  stack.add('event streams', async () => pipeline?.feed.close());
  context.onHangup(() => void reloadBySignal(config, log));
  log.info('listening', { url: served.url });
  return served.url;
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** @throws StartError when other machines could reach a monitor without authentication and no setting permits it. */
function requireLoopback({ HOST, ALLOW_UNAUTHENTICATED }: MonitorEnv): void {
  if (ALLOW_UNAUTHENTICATED === 'true' || HOST === 'localhost') return;
  if (LOOPBACK.check(HOST, isIPv6(HOST) ? 'ipv6' : 'ipv4')) return;
  throw new StartError(
    `HOST: ${HOST} is reachable by other machines, and no login is configured: configure agents.monitor.auth with a password, or set ALLOW_UNAUTHENTICATED=true to let everyone act as operator`,
  );
}

/** Names that lead to this monitor, beside addresses and localhost. */
const ownNames = ({ HOST, MONITOR_URL, ALLOWED_HOSTS }: MonitorEnv): string[] => [
  HOST,
  ...(MONITOR_URL === undefined ? [] : [new URL(MONITOR_URL).hostname]),
  ...ALLOWED_HOSTS,
];

async function configOf({ PIPELINE_CONFIG }: MonitorEnv, variables: Variables): Promise<LoadedConfig> {
  try {
    return await loadConfig(PIPELINE_CONFIG, variables);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const lines = error.message.split('\n').map((line) => `PIPELINE_CONFIG ${PIPELINE_CONFIG}: ${line}`);
    throw new StartError(lines.join('\n'), { cause: error.cause });
  }
}

/** SIGHUP: an outcome is logged and kept by the configuration itself. */
async function reloadBySignal(config: ConfigInForce, log: Logger): Promise<void> {
  const actor = { type: 'system', id: 'SIGHUP', agent: null } as const;
  await config.reload('signal', actor).catch((error: unknown) => log.warn('SIGHUP changed nothing', { error }));
}

/** Returns the dashboard of a monitor without a store, which watches its agents all the same. */
function dashboardOf({ log, metrics, stack }: Context, config: ConfigInForce): Dashboard {
  const { agents } = config.running.config;
  const everyMs = () => config.settings.pollIntervals.monitor * 1_000;
  const watch = watchAgentsWithoutStore({ agents, everyMs, log, metrics: metrics.loops, now });
  stack.add('agent health', () => watch.stop());
  return dashboardWithoutStore(now, watch.configured);
}

interface ConfigRouteParts {
  env: MonitorEnv;
  config: ConfigInForce;
  pipeline: Pipeline | null;
  variables: Variables;
  dashboard: Dashboard;
}

function configRouteOf({ env, config, pipeline, variables, dashboard }: ConfigRouteParts): ConfigRouteDeps {
  const startedAt = now().getTime();
  return {
    summary: () => ({
      config,
      database: placeOf(env.DATABASE_URL, env.DATABASE_POOL_SIZE),
      connected: pipeline?.storeWatch.isConnected ?? false,
      isSet: (variable) => Boolean(variables[variable]),
      agents: dashboard.agents(),
      uptime: (now().getTime() - startedAt) / 1_000,
    }),
    reports: async () => (pipeline ? reloadReports(pipeline.engine.store.db) : []),
    repos: async () => (pipeline ? enabledReposWithTenant(pipeline.engine.store.db) : []),
  };
}

/** null = no authentication is configured. Their variables are set: the configuration was checked. */
function credentialsOf({ config }: LoadedConfig, variables: Variables): Credentials[] | null {
  const auth = config.agents.monitor?.auth;
  if (!auth) return null;
  return [auth, ...auth.logins].map(({ username, passwordEnv }) => {
    return { username, password: variables[passwordEnv] ?? '' };
  });
}

function authenticationOf(
  { env, log }: Context,
  logins: Credentials[] | null,
  pipeline: Pipeline | null,
): Authentication {
  if (logins === null) log.warn('no authentication is configured: every endpoint is open');
  const onLoginFailure = loginAudit({
    store: pipeline?.engine.store ?? null,
    service: 'monitor',
    storeReady: () => pipeline?.storeWatch.isConnected ?? false,
    log,
    now,
  });
  return createAuthentication({ logins, loginAttempts: env.LOGIN_ATTEMPTS, onLoginFailure, now });
}

async function pipelineOf(context: Context, config: ConfigInForce, variables: Variables): Promise<Pipeline | null> {
  const { env, log, metrics, stack } = context;
  const hosts = hostsOf(env, config, log);
  if (env.DATABASE_URL === undefined) {
    log.warn('DATABASE_URL is not set: routes that require the store return 503');
    return null;
  }
  if (hosts.length === 0)
    log.warn(
      'none of GITHUB_APP_ID, GITHUB_TOKEN and SANDBOX_URL is set: no repo is polled and no host writes are sent',
    );
  const pipeline = createPipeline({
    databaseUrl: env.DATABASE_URL,
    directUrl: env.DATABASE_DIRECT_URL ?? env.DATABASE_URL,
    poolSize: env.DATABASE_POOL_SIZE,
    hosts,
    config,
    instance: `${hostname()}:${env.PORT}`,
    variables,
    dockerHost: env.DOCKER_HOST,
    traceEndpoint: traceEndpoint(env),
    log,
    metrics,
    now,
  });
  stack.add('pipeline', () => pipeline.stop());
  await requireStore(pipeline.storeWatch);
  pipeline.start();
  return pipeline;
}

function hostsOf(env: MonitorEnv, config: ConfigInForce, log: Logger): ConnectedHost[] {
  const limits = () => {
    const { contentWritesPerMinute, contentWritesPerHour } = config.settings.hostBudget;
    return { perMinute: contentWritesPerMinute, perHour: contentWritesPerHour };
  };
  return connectHosts({
    access: hostAccess(env),
    budget: new WriteBudget(limits, now),
    userAgent: 'pipeline-monitor',
    log,
    now,
  });
}

/**
 * Returns the access to each host that the environment configures. An app has precedence over a token.
 * @throws StartError for an incomplete configuration.
 */
function hostAccess(env: MonitorEnv): Partial<Record<HostKind, HostAccess>> {
  const githubApp = requireAppKey('GITHUB', env.GITHUB_APP_ID, env.GITHUB_APP_PRIVATE_KEY);
  const sandboxApp = requireAppKey('SANDBOX', env.SANDBOX_APP_ID, env.SANDBOX_APP_PRIVATE_KEY);
  const github = githubApp ?? tokenAccess(env.GITHUB_TOKEN);
  const sandbox = sandboxApp ?? tokenAccess(env.SANDBOX_TOKEN);
  if (env.SANDBOX_URL && !sandbox) throw new StartError('SANDBOX_TOKEN: must be set when SANDBOX_URL is set');
  if (!env.SANDBOX_URL && sandboxApp) throw new StartError('SANDBOX_URL: must be set when SANDBOX_APP_ID is set');
  return {
    ...(github && { github: { apiUrl: env.GITHUB_API_URL, ...github } }),
    ...(env.SANDBOX_URL && sandbox && { sandbox: { apiUrl: env.SANDBOX_URL, ...sandbox } }),
  };
}

const tokenAccess = (token: string | undefined) => (token ? { token } : null);
