import { execFile } from 'node:child_process';
import { mkdir, open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { requireEqual } from '../measure/lanes.ts';
import { openOurStore } from '../ours/store.ts';
import type { Bench, Contender, Fact, Row } from '../runner/model.ts';
import { median } from '../runner/verdict.ts';
import { buildService } from '../services/build.ts';
import { type Child, startChild } from '../services/child.ts';

const FILES = 10;
const MIB = 1024 * 1024;
const RARE = 'xyzzy';
const NEWEST = 200;
const CALLS = 20;

/**
 * Goal 20: logs of ten agents, as our own logger writes them, read over HTTP from the built monitor. The newest 200
 * entries of all; and a word that stands in ten lines, as octets per second, beside `grep -c` over the same files: both
 * from the page cache, grep without a locale and with regard to case, ours without. The index of the monitor is made by
 * the first request, before the clock.
 * Checked: the newest entries are in order; the word is found as often as grep finds it.
 */
export const logSearchRow: Row = {
  goal: 20,
  title: 'log search',
  async open(bench) {
    const mib = bench.quick ? 200 : 1_000;
    const folder = await makeLogs(bench, mib);
    const monitor = await startMonitor(bench, folder);
    await searchRare(monitor);
    return {
      cases: [
        {
          title: `search of a rare word in ${mib} MiB of logs`,
          unit: 'MiB/s',
          ours: timed('ours', mib, () => searchRare(monitor)),
          anchors: [{ contender: timed('grep -c', mib, () => grep(folder)), bound: { atLeast: 0.5 } }],
        },
      ],
      facts: async () => [await newest(monitor, mib)],
    };
  },
};

const timed = (name: string, mib: number, work: () => Promise<number>): Contender => ({
  name,
  async sample() {
    const began = performance.now();
    const found = await work();
    const seconds = (performance.now() - began) / 1_000;
    requireEqual(`${name}: lines with the word`, found, FILES);
    return { value: mib / seconds, cpu: null };
  },
});

const agentFile = (agent: number) => `agent-${agent}.log`;
const timeOf = (line: number) => new Date(Date.UTC(2026, 0, 1) + line * 10).toISOString();

/** Lines of the agents take turns in time. Kept from run to run: the same every time. */
async function makeLogs({ workDir, say }: Bench, mib: number): Promise<string> {
  const folder = join(workDir, `logs-${mib}`);
  await mkdir(folder, { recursive: true });
  for (let agent = 0; agent < FILES; agent += 1) {
    const path = join(folder, agentFile(agent));
    const octets = (mib * MIB) / FILES;
    const known = await stat(path).catch(() => null);
    if (known && known.size >= octets) continue;
    say(`writing ${path}`);
    await writeLog(path, agent, octets);
  }
  return folder;
}

async function writeLog(path: string, agent: number, octets: number): Promise<void> {
  const file = await open(path, 'w');
  try {
    let written = 0;
    for (let line = 0; written < octets; ) {
      let text = '';
      for (let more = 0; more < 5_000; more += 1, line += 1) text += lineOf(agent, line);
      written += (await file.write(text)).bytesWritten;
    }
  } finally {
    await file.close();
  }
}

function lineOf(agent: number, line: number): string {
  const msg = line === 1_000 ? `found the ${RARE}` : `step ${line} of the work on the issue is done`;
  const fields = { timestamp: timeOf(line * FILES + agent), level: line % 50 === 0 ? 'warn' : 'info', msg };
  const context = { issueNumber: line % 997, repo: 'bench/repo-0', taskId: `t-${line}`, durationMs: line % 4_000 };
  return `${JSON.stringify({ ...fields, ...context })}\n`;
}

/** It adds nothing to the folder: its own log is of a level that it does not reach. */
async function startMonitor(bench: Bench, folder: string): Promise<Child> {
  const { url } = await openOurStore(bench, 'bench_logs');
  const child = await startChild({
    args: [await buildService('monitor', bench.workDir)],
    env: { DATABASE_URL: url, LOG_DIR: folder, LOG_LEVEL: 'fatal', NODE_ENV: 'production', REQUESTS_PER_MINUTE: '0' },
    logFile: join(bench.workDir, 'monitor-logs.log'),
  });
  bench.stack.add('monitor with logs', () => child.stop());
  return child;
}

interface Page {
  items: { timestamp: string }[];
  page: { total: number };
}

async function ask({ url }: Child, query: string): Promise<Page> {
  const answer = await fetch(`${url}/api/logs?${query}`);
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`the search answers ${answer.status}: ${text.slice(0, 500)}`);
  return JSON.parse(text) as Page;
}

const searchRare = async (monitor: Child): Promise<number> =>
  (await ask(monitor, `search=${RARE}&limit=50`)).page.total;

async function grep(folder: string): Promise<number> {
  const files = Array.from({ length: FILES }, (_, agent) => join(folder, agentFile(agent)));
  const { stdout } = await promisify(execFile)('grep', ['-c', RARE, ...files], {
    env: { LC_ALL: 'C', PATH: '/usr/bin:/bin' },
  });
  return stdout
    .trim()
    .split('\n')
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(':') + 1)), 0);
}

async function newest(monitor: Child, mib: number): Promise<Fact> {
  const times: number[] = [];
  for (let call = 0; call < CALLS; call += 1) {
    const began = performance.now();
    const { items } = await ask(monitor, `limit=${NEWEST}`);
    times.push(performance.now() - began);
    const inOrder = items.every(
      ({ timestamp }, index) => index === 0 || timestamp <= (items[index - 1]?.timestamp ?? ''),
    );
    if (items.length !== NEWEST || !inOrder) throw new Error(`a wrong page of ${items.length} entries`);
  }
  return { title: `newest ${NEWEST} of ${mib} MiB of logs`, value: median(times), unit: 'ms', bound: { atMost: 50 } };
}
