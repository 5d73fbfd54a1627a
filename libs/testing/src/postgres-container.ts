import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { processIdentity } from '@pipeline/stack/postgres';
import { PostgreSqlContainer } from '@testcontainers/postgresql';
import pg from 'pg';
import { type ContainerRuntimeClient, getContainerRuntimeClient, ImageName, Wait } from 'testcontainers';
import type { TestServer } from './postgres-server.ts';

const IMAGE = 'postgres:18-bookworm';
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
    // The log, not the port: whether 127.0.0.1 or the engine's own address leads to the port is found out below.
    const started = await new PostgreSqlContainer(IMAGE)
      .withLabels(own)
      .withCommand(['postgres', ...flags])
      .withTmpFs({ '/var/lib/postgresql': 'rw' })
      .withWaitStrategy(Wait.forLogMessage(/ready to accept connections/, 2))
      .start();
    const url = await reachable(started.getConnectionUri(), ['127.0.0.1', started.getHost()]);
    return { choice: `container ${IMAGE}`, url, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Whether the run that started a container goes on; of other machines we cannot know, so theirs count as alive. */
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

/** Inside a container with the engine's socket, published ports may be on either side. The address that answers. */
async function reachable(uri: string, hosts: readonly string[]): Promise<string> {
  const errors: unknown[] = [];
  for (const host of hosts) {
    const url = new URL(uri);
    url.hostname = host;
    const probe = new pg.Client({ connectionString: url.href, connectionTimeoutMillis: 3_000 });
    try {
      await probe.connect();
      await probe.end();
      return url.href;
    } catch (error) {
      errors.push(error);
    }
  }
  throw new AggregateError(errors, `the container's Postgres answers on none of ${hosts.join(', ')}`);
}
