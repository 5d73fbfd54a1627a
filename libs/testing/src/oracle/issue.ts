import { round, usdOf } from './arithmetic.ts';
import { byText, iso } from './names.ts';
import type { Rows } from './rows.ts';

type Issue = Rows['issues'][number];

/** Everything that is written of one issue; edges and writes are found by its number. */
export function ofIssue(rows: Rows, issue: Issue): Rows {
  const own = <T extends { issueId: number | null }>(list: T[]) => list.filter(({ issueId }) => issueId === issue.id);
  return {
    ...rows,
    issues: [issue],
    transitions: own(rows.transitions),
    runs: own(rows.runs),
    invocations: own(rows.invocations),
    tasks: own(rows.tasks),
    deadLetters: own(rows.deadLetters),
    findings: own(rows.findings),
    pullRequests: own(rows.pullRequests),
    writes: rows.writes.filter((write) => write.issue === issue.number && write.repoId === issue.repoId),
  };
}

/** How many entries of each kind the story of an issue has, what it cost, and what became of it. */
export function timelineOf(own: Rows, now: number) {
  const [issue] = own.issues;
  if (!issue) throw new Error('needs an issue');
  const end = issue.state === 'done' ? issue.stateAt : now;
  return {
    issueNumber: issue.number,
    currentState: issue.state,
    isPaused: issue.isPaused,
    isBlocked: issue.isBlocked,
    totalCostUsd: round(issue.costUsd, 4),
    unreportedCosts: own.invocations.filter(({ isReported }) => !isReported).length,
    totalDurationMs: end - issue.enteredAt,
    stateTransitions: own.transitions.map(({ from, to, at, ms }) => ({ from, to, at: iso(at), durationInFromMs: ms })),
    kinds: {
      transition: own.transitions.length,
      'agent-run': own.runs.length,
      projection: own.writes.length,
      finding: own.findings.length,
      'dead-letter': own.deadLetters.length,
    },
  };
}

/** The record of why an issue is where it is, but for its words. */
export function whyOf(own: Rows) {
  const [issue] = own.issues;
  if (!issue) throw new Error('needs an issue');
  const failed = own.runs.findLast(({ error }) => error !== null);
  return {
    issueNumber: issue.number,
    title: issue.title,
    state: issue.state,
    stateEnteredAt: iso(issue.stateAt),
    isBlocked: issue.isBlocked,
    isPaused: issue.isPaused,
    blockReason: issue.blockReason,
    blockClassification: issue.blockClass,
    blockedFromState: issue.blockedFrom,
    recentTransitions: own.transitions
      .toSorted((a, b) => b.id - a.id)
      .slice(0, 20)
      .map(({ from, to, at, ms }) => ({ from, to, at: iso(at), durationInFromMs: ms })),
    lastError: failed
      ? { message: failed.error, agentName: failed.agent, occurredAt: iso(failed.endedAt ?? failed.at) }
      : null,
    activeTasks: activeTasksOf(own),
  };
}

const activeTasksOf = (own: Rows) =>
  own.tasks
    .toSorted((a, b) => a.priority - b.priority || byText(a.id, b.id))
    .map(({ type, status, claimedBy }) => ({ taskType: type, status, claimedBy }));

/** What is wrong with an issue. */
export function diagnosisOf(own: Rows) {
  const { blockClassification: _, recentTransitions: __, lastError: ___, activeTasks, ...issue } = whyOf(own);
  const failed = own.runs.filter(({ error }) => error !== null).toSorted((a, b) => b.id - a.id);
  return {
    issue,
    blockClassification: issue.isBlocked ? (own.issues[0]?.blockClass ?? 'unknown') : null,
    recentFailedRuns: failed.slice(0, 10).map(({ agent, error, endedAt }) => ({
      agentName: agent,
      errorMessage: error,
      finishedAt: endedAt === null ? null : iso(endedAt),
    })),
    activeTasks,
  };
}

/** What lists show of an issue. */
export function listItemOf(own: Rows, spend: Rows['costs']) {
  const [issue] = own.issues;
  if (!issue) throw new Error('needs an issue');
  const pullRequests = own.pullRequests.toSorted((a, b) => Number(b.isOpen) - Number(a.isOpen) || b.number - a.number);
  return {
    issueNumber: issue.number,
    title: issue.title,
    state: issue.state,
    isBlocked: issue.isBlocked,
    isPaused: issue.isPaused,
    blockReason: issue.blockReason,
    stateEnteredAt: iso(issue.stateAt),
    currentStatus: issue.status,
    prNumber: pullRequests[0]?.number ?? null,
    labels: issue.labels,
    costUsd: usdOf(spend.filter(({ issueId }) => issueId === issue.id)),
  };
}
