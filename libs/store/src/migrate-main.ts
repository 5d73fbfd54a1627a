import { z } from 'zod';
import { migrateToLatest } from './migrator.ts';
import { isRefusedLogin, isUnavailable } from './store-errors.ts';

const WAIT_MS = 30_000;
const EXIT_CONFIG = 78;

const postgresUrl = z.url({ protocol: /^postgres(ql)?$/, error: 'must be a postgres:// URL' });
const Env = z.object({ DATABASE_URL: postgresUrl, DATABASE_DIRECT_URL: postgresUrl.optional() });

/** Blocks the thread: this command has nothing else to do, and needs no timers of the services. */
const pause = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 250);

/** Waits for a server that is starting up; any other error ends the command at once. */
async function migrateWhenReachable(url: string): ReturnType<typeof migrateToLatest> {
  const deadline = Date.now() + WAIT_MS;
  for (;;) {
    try {
      return await migrateToLatest(url);
    } catch (error) {
      if (isRefusedLogin(error) || !isUnavailable(error) || Date.now() > deadline) throw error;
      pause();
    }
  }
}

/** A function, not top-level awaits: the bundle is CommonJS, which knows none. */
async function main(): Promise<void> {
  const env = Env.safeParse(process.env);
  if (!env.success) {
    for (const { path, message } of env.error.issues) process.stderr.write(`${path.join('.')}: ${message}\n`);
    process.exitCode = EXIT_CONFIG;
    return;
  }
  try {
    const report = await migrateWhenReachable(env.data.DATABASE_DIRECT_URL ?? env.data.DATABASE_URL);
    process.stdout.write(`${JSON.stringify({ ok: true, ...report })}\n`);
  } catch (error) {
    const cause = error instanceof Error && error.cause !== undefined ? `: ${String(error.cause)}` : '';
    process.stdout.write(`${JSON.stringify({ ok: false, error: `${String(error)}${cause}` })}\n`);
    process.exitCode = 1;
  }
}

void main();
