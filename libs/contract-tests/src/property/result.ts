import type { PlannedCase } from '../target/planned-request.ts';
import type { Caller, Problem } from './judge.ts';
import type { Tally } from './tally.ts';

/** A request, who sends it, and what it deserves. */
export interface Case extends PlannedCase {
  caller: Caller;
}

export interface Finding {
  surface: string;
  endpoint: string;
  problem: Problem;
  /** The smallest request found that shows it. */
  example: Case;
  /** Requests that showed it. */
  times: number;
}

export interface PropertyResult {
  seed: number;
  findings: Finding[];
  tally: Tally;
  /** Endpoints without a request, with the reason. */
  skipped: Record<string, string>;
}
