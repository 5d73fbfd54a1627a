import { branchOf, OUTCOMES_OF, type Outcome, type OutcomeName } from '@pipeline/domain';
import type { Report } from '@pipeline/engine';
import { type Held, nextSha, type World } from './world.ts';

const TEXT = 'because';
const RESULTS: { [N in OutcomeName]: (world: World, held: Held) => Extract<Outcome, { outcome: N }>['result'] } = {
  analyzed: () => ({}),
  'not-planned': () => ({ reason: TEXT }),
  planned: () => ({ plan: TEXT, plannedFiles: ['README.md'] }),
  split: () => ({
    subtasks: [
      { title: 'first part', body: TEXT, labels: [] },
      { title: 'second part', body: TEXT, labels: ['svc:enqueue'] },
    ],
  }),
  // On any issue that may exist, itself, a missing one, and one of an unknown repo.
  depends: (world, { costUsd }) => ({
    on: [['#1', '#2', '#3', '#4', '#99', 'no/where#1'][(world.shas + costUsd) % 6] ?? ''],
  }),
  'needs-clarification': () => ({ question: 'Which one?' }),
  submitted(world, { task }) {
    const branch = branchOf(task.issueNumber ?? 0);
    const headSha = nextSha(world);
    return { branch, headSha, title: 'Done', body: 'Fixes #1', changedFiles: ['README.md'] };
  },
  replan: () => ({ reason: TEXT }),
  approved: () => ({ body: TEXT }),
  'changes-requested': () => ({ body: TEXT, comments: [{ path: 'README.md', line: 1, body: TEXT }] }),
  'needs-human': () => ({ reason: TEXT }),
  mergeable: ({ host }, { task }) => ({
    headSha: host.state.branches.get(branchOf(task.issueNumber ?? 0)) ?? task.payload.pr?.headSha ?? 'abc0000',
  }),
  conflict: () => ({ files: [] }),
  'not-ready': () => ({ reason: TEXT }),
  retrospective: () => ({
    outcomeClassification: 'success',
    summary: TEXT,
    plannedFiles: null,
    actualFiles: null,
    failures: null,
    lessons: null,
  }),
  scanned: () => ({ headSha: null, truncated: false, files: [], symbols: [] }),
};

export const FINDING: Report['findings'][number] = {
  findingType: 'risk',
  category: 'security',
  severity: 'high',
  confidence: null,
  title: 'A hole',
  summary: TEXT,
  recommendation: null,
  evidence: [],
  metadata: {},
  blocksProgress: true,
};

/** The worker's report: the index picks one of the outcomes of its task, 0 is the successful one. */
export function outcomeOf(world: World, held: Held, index: number): Outcome {
  const names = OUTCOMES_OF[held.task.taskType];
  const outcome = names[index % names.length] ?? 'analyzed';
  const result = RESULTS[outcome](world, held);
  return { outcome, result } as Outcome;
}
