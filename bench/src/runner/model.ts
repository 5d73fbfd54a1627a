import type { StopStack } from '@pipeline/runtime';
import type { Sample } from '../measure/sample.ts';
import type { Program } from './programs.ts';
import type { BenchServer } from './server.ts';

/** One of those that are compared. */
export interface Contender {
  name: string;
  /**
   * Makes everything ready, measures, and checks that the work was done right.
   * @throws Error when an answer is wrong: a fast wrong answer is no result.
   */
  sample(): Promise<Sample>;
}

export type Bound = { atLeast: number } | { atMost: number };

/** Ours beside its anchors, all measured in every round; the ratio is ours / anchor. */
export interface Case {
  title: string;
  /** Unit of `value`, such as `tasks/s`. */
  unit: string;
  ours: Contender;
  /** One without a bound is not judged: it shows what others do. */
  anchors: { contender: Contender; bound?: Bound }[];
}

/** A number that is judged without an anchor, such as a count of deadlocks. */
export interface Fact {
  title: string;
  value: number;
  unit: string;
  bound: Bound;
}

/** A goal of the table, by its number. Each row file says what is measured and against what. */
export interface Row {
  goal: number;
  title: string;
  /** Programs that must be installed on this machine. */
  needs?: readonly Program[];
  /** Builds what the row needs; whatever it starts it adds to `bench.stack`, which is stopped after the row. */
  open(bench: Bench): Promise<Opened>;
}

export interface Opened {
  cases: Case[];
  /** Asked after the last round. */
  facts?(): Promise<Fact[]>;
}

export interface Bench {
  server: BenchServer;
  stack: StopStack;
  /** Folder for the files and output of rows; it is never emptied. */
  workDir: string;
  /** Few rounds and small data, for CI. */
  quick: boolean;
  /** Reports progress on stderr. */
  say(line: string): void;
}

/** One line of the table. */
export interface Line {
  goal: number;
  title: string;
  unit: string;
  ours: number;
  anchor: string;
  anchorValue: number | null;
  /** Median of the ratios of the rounds; the value itself where there is no anchor. */
  ratio: number;
  /** Null = compared for orientation only. */
  bound: Bound | null;
  /** Null without a bound. */
  verdict: Verdict | null;
  /** (max - min) / median of the ratios. */
  spread: number;
  ratios: number[];
  /** Lowest CPU of ours / lowest CPU of the anchor. */
  cpuRatio: number | null;
  /** Microseconds per item of the lowest round: ours, anchor. */
  cpuUs: [number | null, number | null];
  /** Per round, ours then anchor: value, and CPU by where it was spent. */
  samples: [Sample, Sample][];
}

export type Verdict = 'pass' | 'MISS' | 'inconclusive';
