import { test } from '@jest/globals';
import { testDatabase } from '@pipeline/testing';
import fc from 'fast-check';
import { AGENT_STEPS } from './model/agent-steps.ts';
import { checkEnd, checkHelped } from './model/ending.ts';
import { HOST_STEPS } from './model/host-steps.ts';
import { OPERATOR_STEPS } from './model/operator-steps.ts';
import { PEOPLE_STEPS } from './model/people-steps.ts';
import { type Model, modelOf, StepCommand } from './model/step.ts';
import { TIME_STEPS } from './model/time-steps.ts';
import { makeWorld } from './model/world.ts';
const database = testDatabase();
const steps = fc.array(fc.oneof(
      { weight: 9, arbitrary: AGENT_STEPS },
      { weight: 6, arbitrary: HOST_STEPS },
      { weight: 4, arbitrary: PEOPLE_STEPS },
      { weight: 4, arbitrary: OPERATOR_STEPS },
      { weight: 3, arbitrary: TIME_STEPS },
    ).map((step) => new StepCommand(step)), { minLength: 15, maxLength: 30 });
test('hunt', async () => {
  const samples = fc.sample(steps, { numRuns: Number(process.env.HUNT ?? 30), seed: Number(process.env.SEED ?? 1) });
  const t0 = performance.now(); let n = 0;
  for (const list of samples) {
    const world = await makeWorld(database);
    const model: Model = { issues: await modelOf(world) };
    const done: string[] = [];
    try {
      for (const s of list) { if (!s.check(model)) continue; done.push(`${s}`); await s.run(model, world); }
      done.push('END'); await checkEnd(world); done.push('HELP'); await checkHelped(world);
    } catch (error) {
      const rows = await database.db.selectFrom('transitions').select(['issue_id', 'from_state', 'to_state', 'trigger']).orderBy('id').execute();
      const text = String((error as Error).stack).replace(/\u001b\[[0-9;]*m/g, '').split('\n').filter((l) => !/node_modules|^\s*$/.test(l)).slice(0, 22).join('\n');
      process.stderr.write(`### FAIL after ${done.length}\n${done.join('\n')}\n${rows.map((r) => `${r.issue_id}:${r.from_state}>${r.to_state}(${r.trigger})`).join(' ')}\n${text}\n\n`);
    }
    n += 1;
  }
  process.stderr.write(`${n} runs in ${Math.round(performance.now() - t0)} ms\n`);
}, 3_600_000);
