import { join } from 'node:path';
import { sleep, withDeadline } from '@pipeline/runtime';
import { loadWith } from '../measure/wrk.ts';
import { makeHistory } from '../ours/history.ts';
import { openOurStore } from '../ours/store.ts';
import type { Bench, Case, Contender, Row } from '../runner/model.ts';
import { buildService } from '../services/build.ts';
import { type Child, startChild } from '../services/child.ts';

const ISSUES = 100_000;
const TASKS = 10_000;
const POLLED_WITHIN_MS = 60_000;
const RAW = join(import.meta.dirname, '../peers/servers/raw-main.ts');

/**
 * Goal 18: the dashboard and the metrics of a built monitor over 200 repos with 100,000 issues, fifty connections,
 * beside a node:http server that sends as many octets from one Buffer. The value is time per answer: a second by the
 * answers in it. Postgres runs on the same cores, and the monitor's polls go on.
 * Checked: every answer is a 200; the dashboard has been polled and counts the issues.
 */
export const monitorPagesRow: Row = {
  goal: 18,
  title: 'dashboard and metrics',
  needs: ['wrk'],
  async open(bench) {
    const ours = await openOurStore(bench, 'bench_pages');
    await makeHistory(ours, ISSUES, TASKS);
    const monitor = await startMonitor(bench, ours.url);
    const raw = await start(bench, 'raw-pages', ['--disable-warning=ExperimentalWarning', RAW], {});
    await withDeadline(polled(monitor), POLLED_WITHIN_MS, 'the first poll of the dashboard');
    const cases: Case[] = [];
    for (const path of ['/dashboard', '/prometheus']) cases.push(await caseOf(bench, path, { monitor, raw }));
    return { cases };
  },
};

const startMonitor = async (bench: Bench, databaseUrl: string): Promise<Child> =>
  start(bench, 'monitor-pages', [await buildService('monitor', bench.workDir)], {
    DATABASE_URL: databaseUrl,
    LOG_LEVEL: 'warn',
    REQUESTS_PER_MINUTE: '0',
  });

async function start(bench: Bench, name: string, args: string[], env: Record<string, string>): Promise<Child> {
  const logFile = join(bench.workDir, `${name}.log`);
  const child = await startChild({ args, env: { NODE_ENV: 'production', ...env }, logFile });
  bench.stack.add(name, () => child.stop());
  return child;
}

async function polled({ url }: Child): Promise<void> {
  for (;;) {
    const text = await textOf(`${url}/dashboard`);
    const { polledAt } = JSON.parse(text) as { polledAt: string | null };
    if (polledAt !== null && text.includes(`${ISSUES}`)) return;
    await sleep(100);
  }
}

async function textOf(url: string): Promise<string> {
  const answer = await fetch(url);
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${url} answers ${answer.status}: ${text.slice(0, 500)}`);
  return text;
}

async function caseOf(bench: Bench, path: string, { monitor, raw }: Record<'monitor' | 'raw', Child>): Promise<Case> {
  const octets = Buffer.byteLength(await textOf(monitor.url + path));
  const contender = (name: string, { url, pid }: Child, asked: string): Contender => ({
    name,
    async sample() {
      const options = { url, pids: [pid], seconds: bench.quick ? 1 : 2, workDir: bench.workDir };
      const asks = [{ path: asked, headers: {} }];
      const { value, cpu } = await loadWith({ ...options, name: `pages-${name}`, asks, expect: 'success' });
      return { value: 1e6 / value, cpu };
    },
  });
  return {
    title: `${path}, ${(octets / 1_024).toFixed(1)} KiB`,
    unit: 'us',
    ours: contender('ours', monitor, path),
    anchors: [{ contender: contender('raw', raw, `/octets/${octets}`), bound: { atMost: 3 } }],
  };
}
