import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CORE, onCore } from './pinning.ts';
import type { Sample } from './sample.ts';
import { Stopwatch } from './stopwatch.ts';

const CLIENTS = 8;
const GRACE_MS = 20_000;
const DONE_WITHIN_MS = 300_000;

/**
 * Measures what the server itself can do: a script, or some drawn at random, run by eight clients with prepared
 * statements, on the core of the services.
 */
export async function pgbench(
  { url, workDir, name, seconds }: { url: string; workDir: string; name: string; seconds: number },
  ...scripts: readonly string[]
): Promise<Sample> {
  const files = scripts.map((_, n) => join(workDir, `${name}-${n}.sql`));
  for (const [n, file] of files.entries()) await writeFile(file, scripts[n] ?? '');
  const args = [
    '-n',
    '-M',
    'prepared',
    `-c${CLIENTS}`,
    '-j1',
    `-T${seconds}`,
    ...files.flatMap((file) => ['-f', file]),
  ];
  args.push(url);
  const options = { timeout: seconds * 1_000 + GRACE_MS };
  const { stdout } = await promisify(execFile)(...onCore(CORE.answers, 'pgbench', args), options);
  return { value: tpsOf(stdout), cpu: null };
}

/**
 * Runs a script a number of times for each client, its statements prepared. In the script `:done` is 0 at first, and kept
 * from one run to the next.
 * @throws Error when a run fails.
 */
export async function pgbenchTimes(
  { url, pid }: { url: string; pid: number },
  { workDir, name, clients, times }: { workDir: string; name: string; clients: number; times: number },
  script: string,
): Promise<Sample> {
  const file = join(workDir, `${name}.sql`);
  await writeFile(file, script);
  const args = [
    '-n',
    '-M',
    'prepared',
    `-c${clients}`,
    '-j1',
    `-t${times}`,
    '-D',
    'done=0',
    '-f',
    file,
    withSchema(url),
  ];
  const watch = new Stopwatch(pid);
  watch.begin();
  const { stdout } = await promisify(execFile)('pgbench', args, { timeout: DONE_WITHIN_MS });
  // The time that it counts leaves out the connections that it opens first.
  return { value: tpsOf(stdout), cpu: watch.rate(clients * times).cpu };
}

/** The address, with the schema of the service. */
export const withSchema = (url: string): string =>
  `${url}${url.includes('?') ? '&' : '?'}options=${encodeURIComponent('-c search_path=pipeline,public')}`;

function tpsOf(output: string): number {
  const tps = /tps = ([\d.]+)/.exec(output)?.[1];
  if (tps === undefined) throw new Error(`no tps in the pgbench output: ${output}`);
  return Number(tps);
}
