import type { FindingInput, IntelligenceInput, TaskType } from '@pipeline/domain';
import { claim, registerWorker, report, start } from '@pipeline/engine';
import type { Bench } from './bench.ts';

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

/** An agent takes the next task of that type, and asks a question at the end of it, so that the issue stands still. */
export async function workOn(
  { engine, tenantId }: Bench,
  said: { findings?: FindingInput[]; intelligence?: IntelligenceInput[] },
  taskType: TaskType = 'analyze',
): Promise<string> {
  const agent = { name: 'w1', hostname: '', version: '1', repos: [], taskTypes: [taskType], labels: {} };
  const workerId = await registerWorker(engine, tenantId, agent);
  const task = await claim(engine, { tenantId, workerId, taskTypes: [taskType], repoIds: null });
  if (!task) throw new Error('there is nothing to claim');
  const ref = { tenantId, taskId: task.id, claimToken: task.claimToken };
  await start(engine, ref);
  await report(engine, ref, {
    ...{ outcome: 'needs-clarification', result: { question: 'Which?' } },
    ...{ artefacts: [], findings: [], intelligence: [], invocations: [], ...said },
  });
  return task.id;
}
