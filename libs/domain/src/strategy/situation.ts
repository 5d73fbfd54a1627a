import type { Concern } from './concerns.ts';
import type { StrategyInput } from './inputs.ts';
import type { StrategyRule } from './snapshot.ts';

/** The input of the rules, beside the track itself. */
export interface Situation {
  input: StrategyInput;
  concerns: readonly Concern[];
  /** The sign of overload of the repo. */
  strain: Concern | undefined;
}

/** The result of a rule for a field. */
export interface Step<T> {
  to: T;
  rule: StrategyRule;
  because: string;
  concerns: readonly Concern[];
}
