/**
 * End-to-end checks of the whole product: `npm run e2e`, or some of them by name; `--help` describes the options. Prints a
 * line for each check; the exit status is 1 when one fails. The folders of failed ones are kept, and those in a --data-dir.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Checks, seconds } from './checks.ts';
import { crash } from './crash.ts';
import { dashboard } from './dashboard/dashboard.ts';
import { failover } from './failover/failover.ts';
import { history } from './history/history.ts';
import { type E2e, journey } from './journey.ts';
import { e2eOptions } from './options.ts';
import { restart } from './restart.ts';
import { retention } from './retention/retention.ts';
import { endWithChecks } from './signals.ts';
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
