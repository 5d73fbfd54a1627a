import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { jest } from '@jest/globals';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));

// Every call is a process; on a busy machine a test of ten of them takes its time.
jest.setTimeout(90_000);

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface Cli {
  /** Runs the real command with these arguments. */
  run(args: string[], stdin?: string): Promise<Ended>;
  /** Runs it with --json. @returns its answer. @throws Error when it does not end with 0. */
  json<T>(args: string[], stdin?: string): Promise<T>;
  /** Runs it with --json where it is refused. @returns what it says of the error. */
  refusal(args: string[], stdin?: string): Promise<{ code: string; message: string }>;
}

/** The real `pipeline` in a process of its own, on a database. */
export function cliOn(databaseUrl: () => string | undefined): Cli {
  const run = async (args: string[], stdin = ''): Promise<Ended> => {
    const { DATABASE_URL: _none, ...env } = process.env;
    const url = databaseUrl();
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN, ...args], {
      env: { ...env, ...(url !== undefined && { DATABASE_URL: url }) },
    });
    child.stdin.on('error', () => undefined); // Whoever does not read its input may end before it is written.
    child.stdin.end(stdin);
    const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
    return { code: await ended, stdout, stderr };
  };
  return {
    run,
    async json(args, stdin) {
      const { code, stdout, stderr } = await run([...args, '--json'], stdin);
      if (code !== 0) throw new Error(`pipeline ${args.join(' ')} ended with ${code}: ${stderr}${stdout}`);
      return JSON.parse(stdout) as never;
    },
    async refusal(args, stdin) {
      const { code, stderr } = await run([...args, '--json'], stdin);
      if (code !== 1) throw new Error(`pipeline ${args.join(' ')} ended with ${code}: ${stderr}`);
      return (JSON.parse(stderr) as { error: { code: string; message: string } }).error;
    },
  };
}
