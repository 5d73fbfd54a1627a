import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { deadlineSignal } from '@pipeline/runtime';
import { Command, InvalidArgumentError } from 'commander';
import { ROWS } from './rows/all.ts';
import { runBench } from './runner/bench.ts';
import { machineLine } from './runner/machine.ts';
import type { Row } from './runner/model.ts';
import { renderTable } from './runner/table.ts';
import { conclusionOf } from './runner/verdict.ts';

const FOLDER = join(import.meta.dirname, '..');
const ROUNDS = { full: 7, quick: 3 };
/** What is still there so long after the end was left running by a peer. */
const LINGER_MS = 10_000;

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

const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopping.abort(new Error(signal)));

try {
  const report = await runBench({
    rows: options.only ?? ROWS,
    quick: options.quick,
    rounds: options.rounds ?? (options.quick ? ROUNDS.quick : ROUNDS.full),
    dataDir: resolve(options.dataDir),
    workDir: join(FOLDER, '.data/work'),
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
  console.log(stopping.signal.aborted ? `stopped by a signal; ${conclusion}` : conclusion);
} finally {
  // Nothing should be left by now; if something is, it must not delay the end.
  deadlineSignal(LINGER_MS).addEventListener('abort', () => process.kill(process.pid, 'SIGKILL'));
}
