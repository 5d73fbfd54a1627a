import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { deadlineSignal } from '@pipeline/runtime';
import { Command, InvalidArgumentError } from 'commander';
import { ROWS } from './rows/all.ts';
import { runBench } from './runner/bench.ts';
import { killLeftovers } from './runner/leftovers.ts';
import { machineLine } from './runner/machine.ts';
import type { Row } from './runner/model.ts';
import { missingPrograms } from './runner/programs.ts';
import { renderTable } from './runner/table.ts';
import { conclusionOf } from './runner/verdict.ts';

const FOLDER = join(import.meta.dirname, '..');
const ROUNDS = { full: 7, quick: 3 };
/** Time for an orderly end after a signal, or after the report; what still runs then is killed. */
const GRACE_MS = 10_000;

interface Options {
  only?: Row[];
  quick: boolean;
  rounds?: number;
  json?: string;
  dataDir: string;
}

function rowsOf(list: string): Row[] {
  const wanted = list.split(',').map(Number);
  const unknown = wanted.filter((goal) => !ROWS.some((row) => row.goal === goal));
  if (unknown.length > 0) {
    throw new InvalidArgumentError(`must be goals among ${ROWS.map((row) => row.goal).join(',')}.`);
  }
  return ROWS.filter((row) => wanted.includes(row.goal));
}

function positive(value: string): number {
  const number = Number(value);
  if (Number.isInteger(number) && number > 0) return number;
  throw new InvalidArgumentError('must be a whole number above 0.');
}

const options = new Command('bench')
  .description(
    'Benchmarks the service against its baselines. Exits with 1 when a goal is missed or was not measured, with 3 when none is missed and one is inconclusive.',
  )
  .option(
    '--only <goals>',
    `comma-separated goals: ${ROWS.map((row) => `${row.goal} (${row.title})`).join(', ')}`,
    rowsOf,
  )
  .option('--quick', 'fewer rounds, less data, goals relaxed by a quarter', false)
  .option('--rounds <n>', `rounds per contender (${ROUNDS.full}, quick ${ROUNDS.quick})`, positive)
  .option('--json <file>', 'also write the report to this file; it is always written to bench/results')
  .option('--data-dir <folder>', 'data directory of the database', join(FOLDER, '.data/postgres'))
  .parse()
  .opts<Options>();

const rows = options.only ?? ROWS;
const dataDir = resolve(options.dataDir);
const workDir = join(FOLDER, '.data/work');
const stopping = new AbortController();

/** Ends this process and all that it started. */
function endNow(): void {
  killLeftovers([dataDir, workDir]);
  process.kill(process.pid, 'SIGKILL');
}

/** Ends in order on the first signal or failure, and at once on the second signal. */
function stop(reason: Error): void {
  stopping.abort(reason);
  process.exitCode = 1;
  deadlineSignal(GRACE_MS).addEventListener('abort', endNow);
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    if (stopping.signal.aborted) endNow();
    console.error(`${signal}: stopping`);
    stop(new Error(signal));
  });
}
process.on('uncaughtException', (error) => {
  // A connection fails when its server is stopped, also one that no statement uses.
  if (stopping.signal.aborted) return;
  console.error(error);
  stop(error);
});
process.on('exit', () => killLeftovers([dataDir, workDir]));

const missing = missingPrograms(rows);
for (const line of missing) console.error(line);
if (missing.length > 0) process.exitCode = 1;
else await measure();

async function measure(): Promise<void> {
  try {
    await runAndReport();
  } catch (error) {
    if (!stopping.signal.aborted) throw error;
    process.exitCode = 1;
  } finally {
    deadlineSignal(GRACE_MS).addEventListener('abort', endNow);
  }
}

async function runAndReport(): Promise<void> {
  const report = await runBench({
    rows,
    quick: options.quick,
    rounds: options.rounds ?? (options.quick ? ROUNDS.quick : ROUNDS.full),
    dataDir,
    workDir,
    signal: stopping.signal,
    say: (line) => console.error(line),
  });
  const text = `${JSON.stringify(report, null, 2)}\n`;
  const file = join(FOLDER, 'results', `${report.startedAt.replaceAll(':', '-')}.json`);
  for (const path of [file, ...(options.json ? [resolve(options.json)] : [])]) {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
  console.log(`\n${machineLine(report.machine)}`);
  if (report.steal !== null) console.log(`steal ${(report.steal * 100).toFixed(1)} %, ${Math.round(report.seconds)} s`);
  console.log(`\n${renderTable(report.lines)}\n`);
  for (const { goal, message } of report.failures) console.log(`goal ${goal} was not measured: ${message}`);
  const unmeasured = report.failures.map(({ goal }) => goal);
  const { status, text: conclusion } = conclusionOf(report.lines, unmeasured);
  process.exitCode = stopping.signal.aborted ? 1 : status;
  console.log(stopping.signal.aborted ? `stopped; ${conclusion}` : conclusion);
}
