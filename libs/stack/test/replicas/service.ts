import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { COMPILE_CACHE } from '@pipeline/testing/compile-cache';
import { ROOT } from '../../src/children/context.ts';
import { addressFrom, type Line } from '../../src/supervision/child-spec.ts';

/** One replica, as the process that it is anywhere. */
export interface Service {
  url: string;
  pid: number;
  /** URL of its metrics, with METRICS_PORT in its environment; null before it listens there, or without. */
  metricsUrl(): string | null;
  /** Lines that it has logged so far. */
  lines: Line[];
  kill(): Promise<void>;
  /** SIGTERM, as a rolling restart sends it. @returns the exit status, null after a signal. */
  stop(): Promise<number | null>;
  /** Stops the process where it is (SIGSTOP) and lets it go on (SIGCONT). */
  freeze(): void;
  thaw(): void;
}

/**
 * Starts a service on a free port and waits until it listens. @param root of the sources; default: this checkout.
 * @throws Error with its last words when it ends before.
 */
export function startService(
  name: 'hosted-api' | 'monitor',
  env: Record<string, string>,
  root = ROOT,
): Promise<Service> {
  const main = join(root, 'services', name, 'src/main.ts');
  const child: ChildProcess = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', main], {
    env: { PATH: process.env.PATH ?? '', PORT: '0', ...COMPILE_CACHE, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const kill = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  const stop = () => {
    child.kill('SIGTERM');
    return ended;
  };
  const freeze = () => void child.kill('SIGSTOP');
  const thaw = () => void child.kill('SIGCONT');
  const lines: Line[] = [];
  const metricsUrl = () => {
    const url = lines.find(({ msg }) => msg === 'metrics')?.url;
    return typeof url === 'string' ? url : null;
  };
  let words = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    words += text;
  });
  return new Promise((resolve, reject) => {
    if (child.stdout === null) throw new Error('no output');
    createInterface(child.stdout).on('line', (text) => {
      const line = JSON.parse(text) as Line;
      lines.push(line);
      const url = addressFrom(line);
      if (url !== null) resolve({ url, pid: child.pid ?? 0, metricsUrl, lines, kill, stop, freeze, thaw });
    });
    void ended.then(() =>
      reject(new Error(`${name} ended before it listened: ${words} ${JSON.stringify(lines.at(-1))}`)),
    );
  });
}
