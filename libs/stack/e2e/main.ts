/**
 * End-to-end checks of the whole product: `npm run e2e`, or some of them by name; `--help` describes the options. Prints a
 * line for each check; the exit status is 1 when one fails. The folders of failed ones are kept, and those in a --data-dir.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isBelow, readProcesses } from '@pipeline/testing/process-cpu';
import { Checks, seconds } from './checks.ts';
import { crash } from './crash.ts';
import { dashboard } from './dashboard/dashboard.ts';
import { failover } from './failover/failover.ts';
import { history } from './history/history.ts';
import { hostileAgent } from './hostile-agent.ts';
import { type E2e, journey } from './journey.ts';
import { e2eOptions } from './options.ts';
import { processesOf } from './processes.ts';
import { restart } from './restart.ts';
import { retention } from './retention/retention.ts';
import { soak } from './soak/soak.ts';
import { throughput } from './throughput/throughput.ts';
import { upgrade } from './upgrade/upgrade.ts';

/** Those that run unless others are named. */
const USUAL = ['restart', 'journey', 'dashboard', 'crash'];
const ALL: Record<string, (e2e: E2e) => Promise<void>> = {
  restart,
  journey,
  crash,
  dashboard,
  failover,
  soak,
  upgrade,
  history,
  retention,
  throughput,
  'hostile-agent': hostileAgent,
};

const { checks: chosen, runs, dataDir: own, ...options } = e2eOptions(process.argv.slice(2), Object.keys(ALL), USUAL);
/** Data folder of the check that runs. */
let folder: string | null = null;
endWithChecks(() => folder);
const checks = new Checks();
const began = performance.now();
for (const name of chosen) for (let run = 0; run < runs; run += 1) await perform(name);
checks.printFigures();
const took = seconds(performance.now() - began);
process.stdout.write(`\n${checks.failed === 0 ? 'all good' : `${checks.failed} failed`}, ${took}\n`);
process.exitCode = checks.failed === 0 ? 0 : 1;

async function perform(name: string): Promise<void> {
  const began = performance.now();
  const failedBefore = checks.failed;
  const dataDir = own === undefined ? await mkdtemp(join(tmpdir(), `pipeline-e2e-${name}-`)) : join(own, name);
  folder = dataDir;
  checks.section(name);
  try {
    await ALL[name]?.({ checks, dataDir, env: process.env, ...options });
  } catch (error) {
    checks.that(
      `${name} came to its end`,
      false,
      error instanceof Error ? (error.stack ?? error.message) : String(error),
    );
  }
  checks.note(`took ${seconds(performance.now() - began)}`);
  if (own !== undefined || checks.failed > failedBefore) checks.note(`kept: ${dataDir}`);
  else await rm(dataDir, { recursive: true, force: true });
}

/**
 * Ends what a check has started on SIGINT and SIGTERM: a terminal signals all processes, a CI runner this one alone.
 * Postgres is no descendant of it, but names its folder. The folders stay, as those of a failed check.
 */
function endWithChecks(folderOf: () => string | null): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      const processes = readProcesses();
      const descendants = [...processes.keys()].filter((pid) => isBelow(processes, pid, process.pid));
      const folder = folderOf();
      const others = folder === null ? [] : processesOf(folder).map(({ pid }) => pid);
      for (const pid of new Set([...descendants, ...others])) end(pid);
      // Without this listener the signal ends the process.
      process.kill(process.pid, signal);
    });
  }
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}
