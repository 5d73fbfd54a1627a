import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach } from '@jest/globals';
import { COMPILE_CACHE } from './compile-cache.ts';
import { until } from './until.ts';

/** A line of the log that services write to stdout. */
interface LogLine {
  msg: string;
  url?: string;
}

/**
 * Starts processes as they would run anywhere; those that still run after a test are killed. Call it once at the top
 * of a file.
 * @param main absolute path of the file that is run.
 */
export function testProcesses(main: string) {
  const kills: (() => void)[] = [];
  afterEach(() => {
    for (const kill of kills.splice(0)) kill();
  });
  return (env: Readonly<Record<string, string>> = {}) => {
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', main], {
      env: { PATH: process.env.PATH, PORT: '0', ...COMPILE_CACHE, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    kills.push(() => child.kill('SIGKILL'));
    const output = { out: '', err: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output.out += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      output.err += text;
    });
    const lines = () =>
      output.out
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as LogLine);
    return {
      child,
      output,
      lines,
      /** The address that the first line of this message carries. @throws Error when the process ended without it. */
      async urlOf(msg: string): Promise<string> {
        const found = () => lines().find((line) => line.msg === msg);
        await until(`"${msg}" is logged`, () => found() !== undefined || child.exitCode !== null);
        const { url } = found() ?? {};
        if (url === undefined) throw new Error(`"${msg}" was not logged with an address: ${output.err}`);
        return url;
      },
      /** Its exit code, once all it wrote has been read. */
      exited: once(child, 'close').then(([code]) => code as number),
    };
  };
}
