import { expect } from '@jest/globals';
import type { AsyncCommand } from 'fast-check';
import { intakeBreaches } from '../rules/intake.ts';
import { breaches } from '../rules/invariants.ts';
import { mergeBreaches } from '../rules/merges.ts';
import { issuesOf, type World } from '../world/world.ts';
import type { Model, Step } from './step.ts';

/** The store's rows that the model reads. */
export const modelOf = async (world: World): Promise<Model['issues']> =>
  new Map([...(await issuesOf(world))].map(([number, { state, paused, plan }]) => [number, { state, paused, plan }]));

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
