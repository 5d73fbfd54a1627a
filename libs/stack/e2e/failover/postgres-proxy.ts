import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { StreamingPair } from '@pipeline/testing/streaming-pair';

const CONFIG = fileURLToPath(new URL('../../../../deploy/haproxy/postgres.cfg', import.meta.url));

interface PostgresProxy {
  /** URL of the primary through the proxy. */
  url: string;
  stop(): void;
}

/** Starts HAProxy (`HAPROXY` or on the PATH) with the configuration of `deploy` before both servers. */
export async function startPostgresProxy(
  { primary, standby }: StreamingPair,
  variables: NodeJS.ProcessEnv,
): Promise<PostgresProxy> {
  const address = `127.0.0.1:${await freePort()}`;
  const proxy = spawn(variables.HAPROXY ?? 'haproxy', ['-db', '-f', CONFIG], {
    env: {
      ...variables,
      POSTGRES_BIND: address,
      POSTGRES_PRIMARY: `127.0.0.1:${primary.port}`,
      POSTGRES_STANDBY: `127.0.0.1:${standby.port}`,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  try {
    await once(proxy, 'spawn');
  } catch (error) {
    throw new Error('HAProxy is missing: install it, or set HAPROXY to its path', { cause: error });
  }
  const url = new URL(primary.url);
  url.host = address;
  return { url: url.href, stop: () => void proxy.kill() };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
