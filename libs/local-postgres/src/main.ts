/** The embedded Postgres as a child of the stack: ends when its server ends, and its server ends with it. */
import { envPort, runService, sleep } from '@pipeline/runtime';
import { z } from 'zod';
import { processIdentity } from './data-owner.ts';
import { startPostgres } from './server.ts';

const EVERY_MS = 500;

await runService({
  name: 'postgres',
  schema: { POSTGRES_DIR: z.string(), POSTGRES_PORT: envPort() },
  env: process.env,
  async start({ env, signal, stack }) {
    const starting = startPostgres({ dataDir: env.POSTGRES_DIR, port: env.POSTGRES_PORT });
    // Before it runs: a server whose start is cut short must be stopped as well.
    stack.add('server', () =>
      starting.then(
        (server) => server.stop(),
        () => undefined,
      ),
    );
    const server = await starting;
    // Not by the logger: the address holds the password.
    process.stdout.write(`${JSON.stringify({ url: server.url })}\n`);
    void untilItEnds(server.pid, signal);
  },
});

/** @throws Error when the server ends unasked; then this process ends as well, and the stack starts it again. */
async function untilItEnds(pid: number, signal: AbortSignal): Promise<void> {
  const born = await processIdentity(pid);
  while (await sleep(EVERY_MS, signal)) {
    if ((await processIdentity(pid)) !== born) throw new Error('the Postgres server has ended');
  }
}
