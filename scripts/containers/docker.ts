/** Runs docker and docker compose for the checks of containers. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const BUILD_WITHIN_MS = 900_000;
const WITHIN_MS = 300_000;

export interface Result {
  status: number;
  out: string;
  err: string;
}

export type Variables = Readonly<Record<string, string>>;
export type Compose = (args: readonly string[], env?: Variables) => Result;

/** Runs docker in the root of the repository and waits for it. */
export function docker(args: readonly string[], env: Variables = {}): Result {
  const { status, stdout, stderr, error } = spawnSync('docker', args, {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    timeout: args.includes('build') ? BUILD_WITHIN_MS : WITHIN_MS,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  return { status: status ?? 1, out: stdout ?? '', err: error?.message ?? stderr };
}

/**
 * @param files compose files added to docker-compose.yml.
 * @returns docker compose for a project of its own. Settings come by the environment; a .env of the checkout is not
 * read.
 */
export function composeProject(project: string, settings: Variables, files: readonly string[] = []): Compose {
  const named = ['docker-compose.yml', ...files].flatMap((file) => ['--file', file]);
  const fixed = ['compose', '--env-file', '/dev/null', '--project-name', project, '--progress', 'quiet', ...named];
  return (args, env = {}) => docker([...fixed, ...args], { ...settings, ...env });
}

/** Returns what the command printed. @throws Error with its complaint. */
export function must({ status, out, err }: Result): string {
  if (status !== 0) throw new Error(`exit status ${status}: ${err || out}`);
  return out;
}

interface Run {
  everything: () => Promise<void>;
  /** Removes what was started, however the process ends. */
  remove: () => void;
  /** The end of the logs, for a failure. */
  logs: () => string;
}

/** Runs the checks of a program. Without an engine: prints that. A failure sets the exit status 1, after the logs. */
export async function runWithEngine({ everything, remove, logs }: Run): Promise<void> {
  const engine = spawnSync('docker', ['compose', 'ls'], { encoding: 'utf8', timeout: 20_000 });
  if (engine.status !== 0) {
    console.log(`skipped: no engine (${(engine.error?.message ?? engine.stderr).trim().split('\n').at(-1)})`);
    return;
  }
  // A signal, a reader that went away, a failure.
  process.on('exit', remove);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));
  try {
    await everything();
  } catch (error) {
    console.error(`FAILED ${(error as Error).message.slice(0, 6_000)}\n`);
    console.error(logs());
    process.exitCode = 1;
  }
}
