import { expect } from '@jest/globals';
import type { State } from '@pipeline/domain';
import type { AsyncCommand } from 'fast-check';
import { breaches } from './invariants.ts';
import { intakeBreaches } from './rules-of-intake.ts';
import { mergeBreaches } from './rules-of-merges.ts';
import { issuesOf, type World } from './world.ts';

/** The model's state of an issue: everything else must follow from the rules. */
interface ModelIssue {
  state: State;
  paused: boolean;
}

export interface Model {
  issues: Map<number, ModelIssue>;
}

/** Possible changes of a step, and the required result for one issue. */
export interface Verdict {
  /** Numbers of the issues that may have moved, or `all`; no other issue may. */
  moves: readonly number[] | 'all';
  /** The issue, and its required result. */
  certain?: { number: number; state?: State; paused?: boolean };
}

export const NOTHING: Verdict = { moves: [] };
export const moves = (...numbers: number[]): Verdict => ({ moves: numbers });

/** One step as plain data, so that a counterexample is readable. */
export interface Step {
  readonly name: string;
  readonly data: unknown;
  /** Needs an admitted issue. */
  readonly onIssue: boolean;
  run(model: Model, world: World): Promise<Verdict>;
}

/** The store's rows that the model reads. */
export const modelOf = async (world: World): Promise<Model['issues']> =>
  new Map([...(await issuesOf(world))].map(([number, { state, paused }]) => [number, { state, paused }]));

export class StepCommand implements AsyncCommand<Model, World> {
  readonly #step: Step;

  constructor(step: Step) {
    this.#step = step;
  }

  check(model: Readonly<Model>): boolean {
    return !this.#step.onIssue || model.issues.size > 0;
  }

  /** Runs the step, compares the model with the store and checks every rule. */
  async run(model: Model, world: World): Promise<void> {
    const before = model.issues;
    const verdict = await this.#step.run(model, world);
    const after = await modelOf(world);
    for (const [number, issue] of before) {
      if (verdict.moves === 'all' || verdict.moves.includes(number)) continue;
      expect({ issue: number, ...after.get(number) }).toEqual({ issue: number, ...issue });
    }
    if (verdict.certain) {
      const { number, ...certain } = verdict.certain;
      expect(after.get(number)).toMatchObject(certain);
    }
    model.issues = after;
    expect(await breaches(world)).toEqual({});
    expect(mergeBreaches(world)).toEqual([]);
    expect(await intakeBreaches(world)).toEqual([]);
  }

  toString(): string {
    return `${this.#step.name}(${JSON.stringify(this.#step.data)})`;
  }
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
