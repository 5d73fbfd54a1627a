import type { FindingInput, IntelligenceInput, TaskType } from '@pipeline/domain';
import { claim, registerWorker, report, start } from '@pipeline/engine';
import type { Bench } from '../support/bench.ts';

export const finding = (over: Partial<FindingInput> = {}): FindingInput => ({
  findingType: 'risk',
  category: 'tests',
  severity: 'medium',
  confidence: 0.5,
  title: 'No test for refunds',
  summary: 'The refund path has no test.',
  recommendation: 'Write one.',
  evidence: [{ kind: 'file', path: 'src/refunds.ts', lineStart: 3 }],
  metadata: {},
  blocksProgress: false,
  ...over,
});

export const learnt = (over: Partial<IntelligenceInput> = {}): IntelligenceInput => ({
  kind: 'invariant',
  title: 'Refunds are booked once',
  summary: 'A refund has one row in the ledger, whatever is retried.',
  details: null,
  confidence: null,
  tags: ['ledger'],
  scopes: [{ kind: 'file', ref: 'src/refunds.ts' }],
  evidence: [],
  ...over,
});

/** A worker of that name claims the next task of that type. */
export async function claimWork({ engine, tenantId }: Bench, name: string, taskType: TaskType = 'analyze') {
  const rest = { hostname: '', version: '1', repos: [], taskTypes: [taskType], labels: {} };
  const workerId = await registerWorker(engine, tenantId, { name, ...rest });
  const task = await claim(engine, { tenantId, workerId, taskTypes: [taskType], repoIds: null });
  if (!task) throw new Error('there is nothing to claim');
  return { ...task, tenantId, taskId: task.id };
}

/** An agent takes the next task of that type, and asks a question at the end of it, so that the issue stands still. */
export async function workOn(
  bench: Bench,
  said: { findings?: FindingInput[]; intelligence?: IntelligenceInput[] },
  taskType: TaskType = 'analyze',
): Promise<string> {
  const work = await claimWork(bench, 'w1', taskType);
  await start(bench.engine, work);
  await report(bench.engine, work, {
    outcome: 'needs-clarification',
    result: { question: 'Which?' },
    artefacts: [],
    findings: [],
    intelligence: [],
    invocations: [],
    ...said,
  });
  return work.taskId;
}
