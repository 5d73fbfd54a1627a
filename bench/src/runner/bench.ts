import { mkdir } from 'node:fs/promises';
import { StopStack } from '@pipeline/runtime';
import { describeMachine, type Machine, machineLine, stealShare } from './machine.ts';
import type { Bench, Bound, Fact, Line, Row } from './model.ts';
import { runRounds } from './rounds.ts';
import { type BenchServer, startServer } from './server.ts';
import { judge, linesOf, loosened } from './verdict.ts';

export interface BenchOptions {
  rows: readonly Row[];
  quick: boolean;
  rounds: number;
  /** Keeps the database cluster from run to run; bundles and logs of the services go to `workDir`. */
  dataDir: string;
  workDir: string;
  signal: AbortSignal;
  say(line: string): void;
}

export interface Report {
  startedAt: string;
  seconds: number;
  quick: boolean;
  machine: Machine;
  postgresSettings: Record<string, string>;
  /** Share of the CPU time that the host of this machine took while the rows ran; null where it is unknown. */
  steal: number | null;
  lines: Line[];
  /** Rows that could not be measured, and why. */
  failures: { goal: number; message: string }[];
}

/** Runs the rows one after the other on a Postgres of their own. A row that fails does not keep the others from running. */
export async function runBench(options: BenchOptions): Promise<Report> {
  const startedAt = new Date();
  for (const folder of [options.dataDir, options.workDir]) await mkdir(folder, { recursive: true });
  options.say(`starting Postgres in ${options.dataDir}`);
  const server = await startServer(options.dataDir);
  // Statements in flight fail, and with them the row that awaits them.
  const stop = () => void server.stop().catch(() => undefined);
  options.signal.addEventListener('abort', stop, { once: true });
  try {
    options.signal.throwIfAborted();
    const machine = await describeMachine(server.version, options.dataDir);
    options.say(machineLine(machine));
    const steal = stealShare();
    const report: Report = {
      startedAt: startedAt.toISOString(),
      seconds: 0,
      quick: options.quick,
      machine,
      postgresSettings: server.settings,
      steal: null,
      lines: [],
      failures: [],
    };
    for (const row of options.rows) {
      if (options.signal.aborted) break;
      try {
        report.lines.push(...(await runRow(row, server, options)));
      } catch (error) {
        options.say(`${row.goal} ${row.title} failed: ${(error as Error).stack}`);
        report.failures.push({ goal: row.goal, message: (error as Error).message });
      }
    }
    return { ...report, steal: steal(), seconds: (Date.now() - startedAt.getTime()) / 1000 };
  } finally {
    options.signal.removeEventListener('abort', stop);
    await server.stop();
  }
}

/** Stops what a row started when it ends, and at once on the signal: what was running fails then. */
async function runRow(row: Row, server: BenchServer, options: BenchOptions): Promise<Line[]> {
  const { quick, say, signal, rounds, workDir } = options;
  const stack = new StopStack();
  const stop = () => void stack.stop().catch(() => undefined);
  signal.addEventListener('abort', stop, { once: true });
  try {
    const bench: Bench = { server, stack, workDir, quick, say };
    const { cases, facts } = await row.open(bench);
    const lines: Line[] = [];
    for (const one of cases) {
      const measured = await runRounds(one, { rounds, signal, say });
      lines.push(...linesOf(row.goal, quick ? lenient(one) : one, measured));
    }
    const lineFacts = (await facts?.()) ?? [];
    return [...lines, ...lineFacts.map((fact) => lineOfFact(row.goal, fact))];
  } finally {
    signal.removeEventListener('abort', stop);
    await stack.stop();
  }
}

const lenient = <T extends { anchors: { bound?: Bound }[] }>(one: T): T => ({
  ...one,
  anchors: one.anchors.map((anchor) => ({ ...anchor, ...(anchor.bound && { bound: loosened(anchor.bound) }) })),
});

const lineOfFact = (goal: number, { title, unit, value, bound }: Fact): Line => ({
  goal,
  title,
  unit,
  ours: value,
  anchor: '-',
  anchorValue: null,
  ratio: value,
  bound,
  verdict: judge([value], bound),
  spread: 0,
  ratios: [value],
  cpuUs: [null, null],
  cpuRatio: null,
  samples: [],
});
