import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { withDeadline } from '@pipeline/runtime';
import { ROOT } from '../../src/children/context.ts';

const READY_WITHIN_MS = 120_000;

export interface Service {
  url: string;
  stop(): Promise<void>;
}

interface ServiceOptions {
  name: 'monitor' | 'hosted-api';
  databaseUrl: string;
  /** Folder of its log. */
  dataDir: string;
  env: NodeJS.ProcessEnv;
}

/** The clock of the store stands still, and nothing can be written: every loop of the monitor finds the same. */
export function frozenUrl(databaseUrl: string, now: Date, more: readonly string[] = []): string {
  const url = new URL(databaseUrl);
  const options = [`-c svc.now=${now.toISOString()}`, '-c default_transaction_read_only=on', ...more];
  url.searchParams.set('options', options.join(' '));
  return url.href;
}

/** A service as it runs everywhere, on any free port. @throws Error when it ends or is not ready in two minutes. */
export async function startService({ name, databaseUrl, dataDir, env }: ServiceOptions): Promise<Service> {
  const main = join(ROOT, 'services', name, 'src/main.ts');
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', main], {
    env: { ...env, PORT: '0', DATABASE_URL: databaseUrl },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const log = createWriteStream(join(dataDir, `${name}.log`), { flags: 'a' });
  child.stderr.pipe(log, { end: false });
  try {
    const url = await withDeadline(
      Promise.race([
        listening(child, (line) => log.write(`${line}\n`)),
        ended.then(() => Promise.reject(new Error(`${name} has ended; its log is in ${dataDir}`))),
      ]),
      READY_WITHIN_MS,
      `the start of ${name}`,
    );
    return { url, stop: () => stop(child, ended) };
  } catch (error) {
    await stop(child, ended);
    throw error;
  }
}

const listening = (child: ChildProcess, keep: (line: string) => void): Promise<string> =>
  new Promise((resolve) => {
    if (!child.stdout) return;
    createInterface({ input: child.stdout }).on('line', (line) => {
      keep(line);
      if (!line.includes('"msg":"listening"')) return;
      const { url } = JSON.parse(line) as { url?: string };
      if (url !== undefined) resolve(url);
    });
  });

async function stop(child: ChildProcess, ended: Promise<void>): Promise<void> {
  child.kill('SIGTERM');
  await withDeadline(ended, 15_000, 'the end of a service').catch(() => child.kill('SIGKILL'));
  await ended;
}
