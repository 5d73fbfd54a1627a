import type { PlanStatus, State } from '@pipeline/domain';

/** Possible changes of a step, and the required result for one issue. */
export interface Verdict {
  /** Numbers of the issues that may have moved, or `all`; no other issue may. */
  moves: readonly number[] | 'all';
  /** The issue, and its required result. */
  certain?: { number: number; state?: State; paused?: boolean; plan?: PlanStatus };
}

export const NOTHING: Verdict = { moves: [] };
export const moves = (...numbers: number[]): Verdict => ({ moves: numbers });
