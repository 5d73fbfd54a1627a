/** The scripted demo agent, a simulation: one task as JSON on stdin, records as JSON lines on stdout. */
import { text } from 'node:stream/consumers';
import { sleep } from '@pipeline/runtime/sleep';
import type { ExecTask } from '@pipeline/worker';
import { runAgent } from './agent.ts';

const task = JSON.parse(await text(process.stdin)) as ExecTask;
process.exitCode = await runAgent(task, {
  workDir: process.env.PIPELINE_WORK_DIR ?? process.cwd(),
  gitToken: process.env.DEMO_GIT_TOKEN ?? null,
  variables: process.env,
  emit: (record) => process.stdout.write(`${JSON.stringify(record)}\n`),
  pause: async (ms) => void (await sleep(ms)),
});
