import type { PlanStatus, State } from '@pipeline/domain';
import type { World } from '../world/world.ts';
import { NOTHING, type Verdict } from './verdict.ts';

/** The model's state of an issue: everything else must follow from the rules. */
interface ModelIssue {
  state: State;
  paused: boolean;
  plan: PlanStatus | null;
}

export interface Model {
  issues: Map<number, ModelIssue>;
}

/** One step as plain data, so that a counterexample is readable. */
export interface Step {
  readonly name: string;
  readonly data: unknown;
  /** Needs an admitted issue. */
  readonly onIssue: boolean;
  run(model: Model, world: World): Promise<Verdict>;
}

/** The issue of a step: any number picks one of the existing ones. */
export function pick(model: Model, index: number): number {
  const numbers = [...model.issues.keys()];
  return numbers[index % numbers.length] ?? 0;
}

/** An action on the host only; the pipeline is notified by a webhook or a poll. */
export const onHost = <T>(
  name: string,
  data: T,
  run: (world: World, issue: (index: number) => number) => unknown,
): Step => ({
  name,
  data,
  onIssue: true,
  async run(model, world) {
    await run(world, (index) => pick(model, index));
    return NOTHING;
  },
});
