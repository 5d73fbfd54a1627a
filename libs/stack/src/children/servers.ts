import { join } from 'node:path';
import { addressFrom, type ChildSpec } from '../supervision/child-spec.ts';
import { type ChildContext, HOST, ROOT, urlOf } from './context.ts';

/** The embedded Postgres. */
export function postgres({ dataDir, ports, inherited }: ChildContext): ChildSpec {
  const folder = join(dataDir, 'postgres');
  return {
    name: 'postgres',
    argv: [join(ROOT, 'libs/local-postgres/src/main.ts')],
    env: { ...inherited, LOG_DIR: join(dataDir, 'logs'), POSTGRES_DIR: folder, POSTGRES_PORT: `${ports.postgres}` },
    readyFrom: addressFrom,
    logsItself: true,
    stopSteps: [4_000],
    daemonPidFile: join(folder, 'cluster', 'postmaster.pid'),
  };
}

/** The version-control host, with its webhook to the hosted API. */
export function sandbox({ dataDir, state, ports, inherited }: ChildContext): ChildSpec {
  const { adminToken, bot, person, agent } = state.sandbox;
  const users = [{ ...bot, type: 'Bot' }, person, agent];
  return {
    name: 'sandbox',
    argv: [join(ROOT, 'libs/sandbox-host/src/main.ts')],
    env: {
      ...inherited,
      SANDBOX_PORT: `${ports.sandbox}`,
      SANDBOX_DATA_DIR: join(dataDir, 'sandbox'),
      SANDBOX_MONITOR_URL: urlOf(ports, 'monitor'),
      SANDBOX_ADMIN_TOKEN: adminToken,
      SANDBOX_TOKENS: JSON.stringify(users),
      SANDBOX_WEBHOOKS: JSON.stringify([{ url: webhookUrl(ports), secret: state.webhookSecret }]),
    },
    readyFrom: addressFrom,
    logsItself: false,
    stopSteps: [2_000],
  };
}

export const webhookUrl = (ports: ChildContext['ports']): string => `${urlOf(ports, 'hosted')}/webhooks/github`;

interface ServiceContext extends ChildContext {
  databaseUrl: string;
}

export function hostedApi({ dataDir, state, ports, inherited, databaseUrl }: ServiceContext): ChildSpec {
  return {
    ...service('hosted-api'),
    env: {
      ...inherited,
      LOG_DIR: join(dataDir, 'logs'),
      DATABASE_URL: databaseUrl,
      HOST,
      PORT: `${ports.hosted}`,
      PUBLIC_URL: urlOf(ports, 'hosted'),
      OAUTH_COOKIE_KEYS: state.cookieKey,
      MONITOR_URL: urlOf(ports, 'monitor'),
      GITHUB_WEBHOOK_SECRET: state.webhookSecret,
    },
  };
}

export function monitor({ dataDir, state, ports, inherited, databaseUrl }: ServiceContext): ChildSpec {
  return {
    ...service('monitor'),
    env: {
      ...inherited,
      LOG_DIR: join(dataDir, 'logs'),
      DATABASE_URL: databaseUrl,
      HOST,
      PORT: `${ports.monitor}`,
      PIPELINE_CONFIG: join(dataDir, 'pipeline.yaml'),
      MONITOR_PASSWORD: state.monitor.password,
      SANDBOX_URL: urlOf(ports, 'sandbox'),
      SANDBOX_TOKEN: state.sandbox.bot.token,
    },
  };
}

const service = (name: string): Omit<ChildSpec, 'env'> => ({
  name,
  argv: [join(ROOT, 'services', name, 'src/main.ts')],
  readyFrom: addressFrom,
  logsItself: true,
  stopSteps: [2_500],
});
