import fc, { type AsyncCommand } from 'fast-check';
import { checkEnd, checkHelped } from './ending.ts';
import { type Model, modelOf, StepCommand } from './step.ts';
import { STEPS } from './steps.ts';
import type { World } from './world.ts';

/** @param replayPath from a printed failure. */
export const modelSteps = (replayPath: string | undefined): fc.Arbitrary<Iterable<AsyncCommand<Model, World>>> =>
  fc.commands([STEPS.map((step) => new StepCommand(step))], {
    maxCommands: 40,
    size: 'max',
    ...(replayPath !== undefined && { replayPath }),
  });

/** One run, and the checks after it. @throws Error naming the violated rule. */
export async function runModel(real: World, commands: Iterable<AsyncCommand<Model, World>>): Promise<void> {
  const model = { issues: await modelOf(real) };
  await fc.asyncModelRun(() => ({ model, real }), commands);
  await checkEnd(real);
  await checkHelped(real);
}
