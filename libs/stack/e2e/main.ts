/**
 * End-to-end checks of the whole product: `pnpm e2e`, or some of them by name.
 * Prints a line for each check; the exit status is 1 when one fails. The folders of failed ones are kept, and those in a
 * --data-dir, where `history` finds again what it has made; with --issues it makes a smaller one, and `throughput` measures
 * another number. --events is the size of the history of `retention`. --from names the commit or tag that `upgrade` begins
 * with, or with which `throughput` compares. With --runs N each check is performed N times, and the medians of its figures
 * are printed.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Checks, seconds } from './checks.ts';
import { crash } from './crash.ts';
import { dashboard } from './dashboard/dashboard.ts';
import { failover } from './failover/failover.ts';
import { history } from './history/history.ts';
import { type E2e, journey } from './journey.ts';
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

const { values, positionals } = parseArgs({
  options: {
    seed: { type: 'string' },
    'data-dir': { type: 'string' },
    issues: { type: 'string' },
    events: { type: 'string' },
    minutes: { type: 'string' },
    rate: { type: 'string' },
    from: { type: 'string' },
    runs: { type: 'string', default: '1' },
  },
  allowPositionals: true,
});
/** Of the check that runs. */
let folder: string | null = null;
const chosen = positionals.length > 0 ? positionals : USUAL;
const unknown = chosen.filter((name) => !(name in ALL));
if (unknown.length > 0) {
  process.stderr.write(`${unknown.join(', ')}: the checks are ${Object.keys(ALL).join(', ')}\n`);
  process.exitCode = 2;
} else {
  endWithChecks(() => folder);
  const checks = new Checks();
  const began = performance.now();
  for (const name of chosen) for (let run = 0; run < Number(values.runs); run += 1) await perform(checks, name);
  checks.printFigures();
  const took = seconds(performance.now() - began);
  process.stdout.write(`\n${checks.failed === 0 ? 'all good' : `${checks.failed} failed`}, ${took}\n`);
  process.exitCode = checks.failed === 0 ? 0 : 1;
}

function numberOf(text: string | undefined): number | null {
  return text === undefined ? null : Number(text);
}

async function perform(checks: Checks, name: string): Promise<void> {
  const began = performance.now();
  const failedBefore = checks.failed;
  const own = values['data-dir'];
  const dataDir = own === undefined ? await mkdtemp(join(tmpdir(), `pipeline-e2e-${name}-`)) : resolve(own, name);
  folder = dataDir;
  const seed = Number(values.seed ?? Date.now() % 1_000_000);
  checks.section(name);
  try {
    const [issues, events, minutes, rate] = [values.issues, values.events, values.minutes, values.rate].map(numberOf);
    await ALL[name]?.({
      checks,
      dataDir,
      env: process.env,
      seed,
      issues: issues ?? null,
      events: events ?? null,
      minutes: minutes ?? null,
      rate: rate ?? null,
      from: values.from ?? null,
    });
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
