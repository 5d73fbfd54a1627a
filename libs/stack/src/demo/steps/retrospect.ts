import type { IssueHistory } from '@pipeline/domain';
import type { ExecTask } from '@pipeline/worker';
import { AgentFailure } from '../failure.ts';
import { type Outcome, outcome } from './context.ts';

/** Compares the plan with the result, from the payload of the task. */
export function retrospect({ issueNumber, payload }: ExecTask): Outcome {
  const { history } = payload;
  if (!history) throw new AgentFailure('permanent', 'a retrospect task without the history of its issue');
  const planned = payload.plan?.plannedFiles ?? null;
  const drift = driftOf(planned, history.changedFiles);
  const numbers = `${planned?.length ?? 0} files planned, ${history.changedFiles.length} changed, ${history.reviewCycles} rounds of changes, ${history.failures.length} failures, ${history.costs.totalUsd} USD`;
  return outcome('retrospective', {
    outcomeClassification: classify(history, drift),
    summary: `#${issueNumber}: ${history.end} after ${history.timeline.length} moves; ${numbers} (simulation).`,
    plannedFiles: planned && { files: planned },
    actualFiles: history.changedFiles.length > 0 ? { files: history.changedFiles, ...drift } : null,
    failures: history.failures.length > 0 ? { attempts: history.failures } : null,
    lessons: lessonsOf(history, drift),
  });
}

interface Drift {
  touchedMore: string[];
  touchedFewer: string[];
}

function driftOf(planned: readonly string[] | null, changed: readonly string[]): Drift {
  if (planned === null) return { touchedMore: [], touchedFewer: [] };
  return {
    touchedMore: changed.filter((path) => !planned.includes(path)),
    touchedFewer: planned.filter((path) => !changed.includes(path)),
  };
}

function classify({ end, failures }: IssueHistory, { touchedMore, touchedFewer }: Drift): string {
  if (end === 'merged') return touchedMore.length + touchedFewer.length > 0 ? 'partial' : 'success';
  return failures.length > 0 ? 'failure' : 'abandoned';
}

function lessonsOf({ end, failures, reviewCycles }: IssueHistory, drift: Drift): Record<string, string> | null {
  const lessons = {
    ...(failures.length > 0 && end === 'merged' && { retry: 'Failed attempts succeeded when retried.' }),
    ...(reviewCycles > 0 && { review: `The review asked for changes ${reviewCycles} times: check before submitting.` }),
    ...(drift.touchedMore.length > 0 && { plan: `The plan missed ${drift.touchedMore.join(', ')}.` }),
  };
  return Object.keys(lessons).length > 0 ? lessons : null;
}
