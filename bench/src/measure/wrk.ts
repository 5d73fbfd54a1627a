import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cpuOfTree } from '@pipeline/testing/process-cpu';
import { CORE, onCore } from './pinning.ts';
import type { Sample } from './sample.ts';

const CONNECTIONS = 50;
const GRACE_MS = 20_000;

/** One of the requests that are drawn at random. */
export interface Ask {
  path: string;
  headers: Record<string, string>;
}

export interface LoadOptions {
  url: string;
  asks: readonly Ask[];
  seconds: number;
  /** Processes whose CPU is the cost of an answer, their descendants included. */
  pids: readonly number[];
  /** Folder of the script for wrk. */
  workDir: string;
  name: string;
  /** Answers that are meant; wrk counts all from 400 on as errors. */
  expect: 'success' | 'client-error';
}

export interface Load extends Sample {
  p50Ms: number;
  p99Ms: number;
}

/** Fifty connections, each with one request in flight, by wrk. @throws Error for answers that are not as expected. */
export async function loadWith(options: LoadOptions): Promise<Load> {
  const { url, asks, seconds, pids, workDir, name } = options;
  const script = join(workDir, `${name}.lua`);
  await writeFile(script, scriptOf(asks));
  const args = ['-t1', `-c${CONNECTIONS}`, `-d${seconds}s`, '--latency', '-s', script, url];
  const before = cpuOf(pids);
  const { stdout } = await promisify(execFile)(...onCore(CORE.rest, 'wrk', args), {
    timeout: seconds * 1_000 + GRACE_MS,
  });
  const after = cpuOf(pids);
  const requests = number(stdout, /(\d+) requests in/);
  const errors = optional(stdout, /Non-2xx or 3xx responses: (\d+)/);
  const wanted = options.expect === 'success' ? 0 : requests;
  // Requests in flight at the end are neither.
  if (Math.abs(errors - wanted) > CONNECTIONS) throw new Error(`${name}: ${errors} of ${requests} answers are errors`);
  if (/Socket errors/.test(stdout)) throw new Error(`${name}: ${/Socket errors.*/.exec(stdout)?.[0]}`);
  return {
    value: number(stdout, /Requests\/sec:\s+([\d.]+)/),
    cpu: { self: 0, services: (after - before) / requests, postgres: 0 },
    p50Ms: latency(stdout, 50),
    p99Ms: latency(stdout, 99),
  };
}

const cpuOf = (pids: readonly number[]): number => pids.reduce((sum, pid) => sum + cpuOfTree(pid), 0);

const quoted = (text: string) => `"${text}"`;

function scriptOf(asks: readonly Ask[]): string {
  const lines = asks.map(({ path, headers }) => {
    const fields = Object.entries(headers).map(([key, value]) => `[${quoted(key)}] = '${value}'`);
    return `  wrk.format("GET", ${quoted(path)}, { ${fields.join(', ')} }),`;
  });
  // Built once: the load must not cost more than the answer.
  return `local asks = {}\ninit = function() asks = {\n${lines.join('\n')}\n} end\nrequest = function() return asks[math.random(#asks)] end\n`;
}

function number(text: string, pattern: RegExp): number {
  const found = pattern.exec(text)?.[1];
  if (found === undefined) throw new Error(`no ${pattern} in the wrk output: ${text}`);
  return Number(found);
}

const optional = (text: string, pattern: RegExp): number => Number(pattern.exec(text)?.[1] ?? 0);

const UNIT_MS: Record<string, number> = { us: 0.001, ms: 1, s: 1_000 };

function latency(text: string, percentile: number): number {
  const [, value = '', unit = ''] = new RegExp(`\\s${percentile}%\\s+([\\d.]+)(us|ms|s)`).exec(text) ?? [];
  return Number(value) * (UNIT_MS[unit] ?? Number.NaN);
}
