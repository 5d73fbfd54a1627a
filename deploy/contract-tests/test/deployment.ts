/** Both services in containers on a network of their own, with credentials of every kind. */
import { randomBytes } from 'node:crypto';
import { openStore } from '@pipeline/store';
import { simulateHistory } from '@pipeline/testing/history';
import { sql } from 'kysely';
import { GenericContainer, Network, type StartedNetwork, type StartedTestContainer, Wait } from 'testcontainers';
import { UNLIMITED } from '../../../libs/stack/test/contract/unlimited.ts';

const IMAGE_TAG = process.env.PIPELINE_TAG ?? 'e2e';
const POSTGRES = process.env.POSTGRES_IMAGE ?? 'postgres:18-bookworm';
const READY_WITHIN_MS = 120_000;
const FOLDER = '/tmp';
const HISTORY = { tenants: 1, repos: 2, days: 3, issues: 60, seed: 1 };

/** A repo of the history, which runs may change. */
export const SCRATCH = 'acme/repo-1';

export interface ContainerDeployment {
  network: StartedNetwork;
  /** Addresses from this machine. */
  urls: { hosted: string; monitor: string };
  credentials: Credentials;
}

interface Credentials {
  clientId: string;
  clientSecret: string;
  workerToken: string;
  operator: { username: string; password: string };
  login: { email: string; password: string };
}

const secret = (): string => randomBytes(24).toString('hex');

const pipelineImage = (name: string): GenericContainer => new GenericContainer(`pipeline-${name}:${IMAGE_TAG}`);

type Start = (container: GenericContainer) => Promise<StartedTestContainer>;

const urlOf = (user: string, password: string): string => `postgres://${user}:${password}@postgres:5432/pipeline`;

/** Starts containers of images that were built before. @param defer is called with what removes each part. */
export async function startContainers(defer: (remove: () => Promise<unknown>) => void): Promise<ContainerDeployment> {
  const network = await new Network().start();
  defer(() => network.stop());
  const start: Start = async (container) => {
    const running = await container.withNetwork(network).start();
    defer(() => running.stop({ remove: true, timeout: 1_000 }));
    return running;
  };
  const passwords = { owner: secret(), hosted: secret(), monitor: secret(), operator: secret(), member: secret() };
  await startStore(start, passwords);
  const services = servicesOf(passwords).map(start);
  const admin = await start(
    pipelineImage('migrate')
      .withEnvironment({ DATABASE_URL: urlOf('pipeline', passwords.owner) })
      .withCommand(['sh', '-c', 'echo started; exec sleep infinity'])
      // Its image has the health check of the services.
      .withWaitStrategy(Wait.forLogMessage('started')),
  );
  const credentials = await createCredentials(admin, passwords.member);
  const [hosted = '', monitor = ''] = (await Promise.all(services)).map(addressOf);
  const operator = { username: 'operator', password: passwords.operator };
  return { network, urls: { hosted, monitor }, credentials: { ...credentials, operator } };
}

type Passwords = Record<'owner' | 'hosted' | 'monitor' | 'operator', string>;

/** Postgres with the schema, the logins of the services and a history. */
async function startStore(start: Start, passwords: Passwords): Promise<void> {
  const ownerUrl = urlOf('pipeline', passwords.owner);
  const postgres = await start(
    new GenericContainer(POSTGRES)
      .withExposedPorts(5432)
      .withNetworkAliases('postgres')
      .withEnvironment({ POSTGRES_USER: 'pipeline', POSTGRES_DB: 'pipeline', POSTGRES_PASSWORD: passwords.owner })
      .withTmpFs({ '/var/lib/postgresql': 'rw' })
      .withWaitStrategy(Wait.forLogMessage(/ready to accept connections/, 2)),
  );
  await start(
    pipelineImage('migrate')
      .withEnvironment({
        DATABASE_URL: ownerUrl,
        HOSTED_API_DATABASE_PASSWORD: passwords.hosted,
        MONITOR_DATABASE_PASSWORD: passwords.monitor,
      })
      .withWaitStrategy(Wait.forOneShotStartup()),
  );
  await insertHistory(ownerUrl.replace('postgres:5432', `${postgres.getHost()}:${postgres.getMappedPort(5432)}`));
}

function servicesOf(passwords: Passwords): GenericContainer[] {
  const service = (name: 'hosted-api' | 'monitor', port: number, environment: Record<string, string>) =>
    pipelineImage(name)
      .withNetworkAliases(name)
      .withEnvironment({ ...UNLIMITED, ...environment })
      .withExposedPorts(port)
      .withWaitStrategy(Wait.forHttp('/ready', port).withStartupTimeout(READY_WITHIN_MS));
  const config = '/tmp/pipeline.yaml';
  const content = 'agents: {monitor: {auth: {username: operator, passwordEnv: MONITOR_PASSWORD}}}\n';
  return [
    service('hosted-api', 8080, {
      DATABASE_URL: urlOf('pipeline_hosted_api', passwords.hosted),
      PUBLIC_URL: 'http://localhost:8080',
    }),
    service('monitor', 8090, {
      DATABASE_URL: urlOf('pipeline_monitor', passwords.monitor),
      PIPELINE_CONFIG: config,
      MONITOR_PASSWORD: passwords.operator,
    }).withCopyContentToContainer([{ content, target: config, mode: 0o644 }]),
  ];
}

const addressOf = (container: StartedTestContainer): string =>
  `http://${container.getHost()}:${container.getFirstMappedPort()}`;

/** The past of an organisation, without which most lists are empty. */
async function insertHistory(databaseUrl: string): Promise<void> {
  const onConnectionError = () => undefined;
  const store = openStore({ databaseUrl, applicationName: 'history', poolSize: 2, onConnectionError });
  try {
    await simulateHistory(store.db, { ...HISTORY, end: new Date() });
    // The name of the organisation for which credentials are created.
    await sql`update pipeline.tenants set external_id = 'default'`.execute(store.db);
  } finally {
    await store.close();
  }
}

/** Creates credentials with the commands that the documents name for operators. */
async function createCredentials(admin: StartedTestContainer, password: string) {
  const run = async (...command: string[]): Promise<string> => {
    const { exitCode, output } = await admin.exec(command);
    if (exitCode !== 0) throw new Error(`${command.slice(0, 4).join(' ')}: exit status ${exitCode}: ${output}`);
    return output.trim();
  };
  await run('node', 'bin/contract-credentials.cjs', FOLDER);
  const login = { email: 'contract-login@pipeline.invalid', password };
  const create = 'printf %s "$1" | pipeline admin user create "$2"';
  await run('sh', '-c', create, 'sh', password, login.email);
  await run('pipeline', 'admin', 'member', 'add', 'default', login.email, '--role', 'member');
  const read = (name: string) => run('cat', `${FOLDER}/${name}`);
  const [clientId, clientSecret, workerToken] = await Promise.all(
    ['client-id', 'client-secret', 'worker-token'].map(read),
  );
  if (!clientId || !clientSecret || !workerToken) throw new Error('a credential is missing');
  return { clientId, clientSecret, workerToken, login };
}

/**
 * Runs the image of the contract tests on the network of the services.
 * @returns its exit status, what it printed, and the JUnit report.
 */
export async function runContractImage(
  { network, credentials }: ContainerDeployment,
  options: readonly string[],
): Promise<{ status: number; text: string; junit: string }> {
  const { login, operator } = credentials;
  const chunks: string[] = [];
  const folder = ['--junit', '/reports/contract.xml'];
  const targets = ['--hosted', 'http://hosted-api:8080', '--monitor', 'http://monitor:8090'];
  const run = ['node /app/bin/main.cjs "$@"; echo "exit status $?"; sleep infinity', 'sh'];
  const container = await new GenericContainer(`pipeline-contract-tests:${IMAGE_TAG}`)
    .withNetwork(network)
    .withEntrypoint(['sh', '-c'])
    .withCommand([...run, ...targets, '--user', operator.username, '--login-email', login.email, ...folder, ...options])
    .withEnvironment({
      PIPELINE_CLIENT_ID: credentials.clientId,
      PIPELINE_CLIENT_SECRET: credentials.clientSecret,
      PIPELINE_WORKER_TOKEN: credentials.workerToken,
      PIPELINE_LOGIN_PASSWORD: login.password,
      MONITOR_PASSWORD: operator.password,
    })
    .withLogConsumer((stream) => stream.on('data', (chunk) => chunks.push(String(chunk))))
    .withWaitStrategy(Wait.forLogMessage(/^exit status \d+/m).withStartupTimeout(300_000))
    .start();
  try {
    const { output: junit } = await container.exec(['cat', '/reports/contract.xml']);
    const text = chunks.join('');
    return { status: Number(/exit status (\d+)/.exec(text)?.[1] ?? 1), text, junit };
  } finally {
    await container.stop({ remove: true, timeout: 1_000 });
  }
}
