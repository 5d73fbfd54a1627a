import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { processIdentity } from '@pipeline/local-postgres';
import { PostgreSqlContainer, type StartedPostgreSqlContainer } from '@testcontainers/postgresql';
import pg from 'pg';
import { type ContainerRuntimeClient, getContainerRuntimeClient, ImageName, Wait } from 'testcontainers';

/** A Postgres server for one run of the tests. */
export interface TestServer {
  /** Describes the chosen server and the reason, for people. */
  choice: string;
  /** URL with a role that may create databases. */
  url: string;
  stop(): Promise<void>;
}

const IMAGE = 'postgres:18-bookworm';
const POSTGRES_PORT = 5432;
const ANSWERS_WITHIN_MS = 3_000;
const REAPER = new ImageName(undefined, 'testcontainers/ryuk', '0.14.0');
const OWNER = 'pipeline.test.owner';
const ID = 'pipeline.test.id';
type Labels = Readonly<Record<string, string>>;

/**
 * A Postgres in a container, its data in memory. @throws Error when no engine answers or the image cannot be had.
 */
export async function startContainer(settings: Readonly<Record<string, string>>): Promise<TestServer> {
  const client = await getContainerRuntimeClient();
  // The reaper is a second image. Where it is not at hand it would be pulled; we clear up after ourselves.
  if (!(await client.image.exists(REAPER))) process.env.TESTCONTAINERS_RYUK_DISABLED ??= 'true';
  await removeContainers(client, async (labels) => !(await isAlive(labels[OWNER] ?? '')));
  const own = { [OWNER]: `${hostname()} ${await processIdentity(process.pid)}`, [ID]: randomUUID() };
  const flags = Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
  const stop = () => removeContainers(client, async (labels) => labels[ID] === own[ID]);
  try {
    // The log, not the port: which address leads to it is found out below.
    const started = await new PostgreSqlContainer(IMAGE)
      .withLabels(own)
      .withCommand(['postgres', ...flags])
      .withTmpFs({ '/var/lib/postgresql': 'rw' })
      .withWaitStrategy(Wait.forLogMessage(/ready to accept connections/, 2))
      // Without a word of ours the engine starts a program in it four times a second, as long as tests run.
      .withHealthCheck({ test: ['CMD', 'true'], interval: 3_600_000 })
      .start();
    const url = await reachable(addressesOf(started));
    return { choice: `container ${IMAGE}`, url, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * Returns whether the run that started a container is alive. Runs on other machines count as alive: they cannot be
 * checked.
 */
async function isAlive(owner: string): Promise<boolean> {
  const [host, pid, start] = owner.split(' ');
  if (host !== hostname()) return true;
  return (await processIdentity(Number(pid))) === [pid, start].filter(Boolean).join(' ');
}

async function removeContainers(
  client: ContainerRuntimeClient,
  which: (labels: Labels) => Promise<boolean>,
): Promise<void> {
  const { dockerode } = client.container;
  const found = await dockerode.listContainers({ all: true, filters: { label: [OWNER] } });
  for (const { Id, Labels } of found) {
    if (await which(Labels)) await dockerode.getContainer(Id).remove({ force: true, v: true });
  }
}

/**
 * Lists the addresses at which its Postgres may be found, the shortest way first. A published port is served by a
 * process of the engine that copies every byte; inside a container with the engine's socket it may be on either side.
 */
function addressesOf(started: StartedPostgreSqlContainer): string[] {
  const at = (host: string, port: number) => {
    const url = new URL(started.getConnectionUri());
    url.host = `${host}:${port}`;
    return url.href;
  };
  return [
    ...started.getNetworkNames().map((network) => at(started.getIpAddress(network), POSTGRES_PORT)),
    at('127.0.0.1', started.getPort()),
    at(started.getHost(), started.getPort()),
  ];
}

/** The first address that answers. */
async function reachable(urls: readonly string[]): Promise<string> {
  const errors: unknown[] = [];
  for (const url of urls) {
    const probe = new pg.Client({ connectionString: url, connectionTimeoutMillis: ANSWERS_WITHIN_MS });
    try {
      await probe.connect();
      await probe.end();
      return url;
    } catch (error) {
      errors.push(error);
    }
  }
  throw new AggregateError(errors, 'the Postgres of the container answers on none of its addresses');
}
