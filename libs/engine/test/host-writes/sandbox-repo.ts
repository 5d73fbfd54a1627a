import type { TaskType } from '@pipeline/domain';
import { start } from '@pipeline/engine';
import { BOT, type SandboxEnvironment } from '@pipeline/testing/sandbox';
import { type Bench, claimNext, drain, finish, goodOutcome, refOf } from '../harness.ts';

/** A repo on the sandbox host, and the pipeline that works on it through the real adapter. */
export interface SandboxRepo {
  sandbox: SandboxEnvironment;
  bench: Bench;
  slug: string;
}

/** Lets the outbox work and completes tasks until none is left. Each submission pushes this file of its issue. */
export async function completeTasks(
  { sandbox, bench, slug }: SandboxRepo,
  types: TaskType[],
  {
    fileOf,
    headOf,
  }: { fileOf: (issue: number) => [path: string, text: string]; headOf: (issue: number) => Promise<string> },
): Promise<void> {
  for (;;) {
    await drain({ engine: bench.engine, host: sandbox.host });
    const task = await claimNext(bench, types);
    if (!task) return;
    await start(bench.engine, refOf(bench, task));
    const number = task.issueNumber ?? 0;
    const outcome = goodOutcome(task.taskType, number);
    if (outcome.outcome === 'submitted') {
      const to = { repo: slug, token: BOT.token };
      outcome.result.headSha = await sandbox.push(`svc/issue-${number}`, ...fileOf(number), to);
    }
    if (outcome.outcome === 'mergeable') outcome.result.headSha = await headOf(number);
    await finish(bench, task, outcome);
  }
}
