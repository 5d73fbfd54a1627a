import { spawn } from 'node:child_process';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { COMPILE_CACHE } from '@pipeline/testing/compile-cache';
import { commandLine } from '../src/command-line.ts';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface Cli {
  /** Runs the command with these arguments. */
  run(args: string[], stdin?: string): Promise<Ended>;
  /** Runs it with --json. @returns its answer. @throws Error when it does not end with 0. */
  json<T>(args: string[], stdin?: string): Promise<T>;
  /** Runs it with --json where it is refused. @returns the error that it prints. */
  refusal(args: string[], stdin?: string): Promise<{ code: string; message: string }>;
}

/** The real `pipeline` in a process of its own. */
export async function runProcess(args: string[], databaseUrl: string | undefined, stdin = ''): Promise<Ended> {
  const { DATABASE_URL: _none, ...env } = process.env;
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN, ...args], {
    env: { ...env, ...COMPILE_CACHE, ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }) },
  });
  child.stdin.on('error', () => undefined); // A program that does not read its input may end before it is written.
  child.stdin.end(stdin);
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await ended, stdout, stderr };
}

/** `pipeline` on a database, with streams of its own. */
export function cliOn(databaseUrl: () => string | undefined, env: Record<string, string> = {}): Cli {
  const run = async (args: string[], input = ''): Promise<Ended> => {
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const streams = { stdin: Readable.from([input]), stdout, stderr };
    const code = await commandLine(args, { ...env, DATABASE_URL: databaseUrl() }, streams);
    const said = [stdout, stderr].map((stream) => text(stream.end()));
    return { code, stdout: (await said[0]) ?? '', stderr: (await said[1]) ?? '' };
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
