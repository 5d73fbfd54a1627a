import type { Concern } from './concerns.ts';
import type { StrategyInput } from './inputs.ts';
import type { StrategyRule } from './snapshot.ts';

/** What the rules look at, beside the track itself. */
export interface Situation {
  input: StrategyInput;
  concerns: readonly Concern[];
  /** The sign that the repo has more work than it can carry. */
  strain: Concern | undefined;
}

/** What a rule makes of a field. */
export interface Step<T> {
  to: T;
  rule: StrategyRule;
  because: string;
  concerns: readonly Concern[];
}
