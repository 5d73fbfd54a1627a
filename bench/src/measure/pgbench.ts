import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CORE, onCore } from './pinning.ts';
import type { Sample } from './sample.ts';

const CLIENTS = 8;
const GRACE_MS = 20_000;

/**
 * What the server itself can do: a script, or some drawn at random, run by eight clients, its statements prepared; on the
 * core of those that answer.
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
  const tps = /tps = ([\d.]+)/.exec(stdout)?.[1];
  if (tps === undefined) throw new Error(`no tps in the pgbench output: ${stdout}`);
  return { value: Number(tps), cpu: null };
}
