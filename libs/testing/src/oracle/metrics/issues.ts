import type { State } from '@pipeline/domain';
import { medianOf, percentOf, ratioOf } from '../arithmetic.ts';
import type { Rows } from '../rows.ts';
import { isWithin, type Metric, movedTo } from './period.ts';
import { mergedIssues, mergedPulls, pullsByIssue } from './pull-requests.ts';

const MINUTE = 60_000;

const IN_FLIGHT: readonly State[] = [
  'analyzing',
  'planning',
  'ready-for-dev',
  'in-review',
  'changes-requested',
  'merge-pending',
  'waiting-for-subtasks',
];

const inStates =
  (...states: readonly State[]) =>
  ({ issues }: Rows) =>
    issues.filter(({ state }) => states.includes(state)).length;

const creationTimes = ({ issues }: Rows) => new Map(issues.map(({ id, createdAt }) => [id, createdAt]));

export const ISSUE_METRICS = {
  open_issues: ({ issues }) => issues.filter(({ state, isPaused }) => state !== 'done' && !isPaused).length,
  in_flight: inStates(...IN_FLIGHT),
  in_progress: inStates('dependency-blocked', 'failure-blocked', 'waiting-for-subtasks'),
  blocked: inStates('dependency-blocked', 'failure-blocked', 'needs-clarification'),
  awaiting_review: inStates('human-review-ready'),
  throughput: (rows, period) => movedTo(rows, period, 'done').size,
  cycle_time(rows, period) {
    const done = movedTo(rows, period, 'done');
    const created = creationTimes(rows);
    return medianOf(
      pullsByIssue(rows).flatMap(({ issueId, firstOpenedAt, firstMergedAt }) => {
        const from = created.get(issueId);
        if (!done.has(issueId) || firstMergedAt === null || from === undefined) return [];
        return [(firstOpenedAt - from) / MINUTE + (firstMergedAt - firstOpenedAt) / MINUTE];
      }),
    );
  },
  success_rate(rows, period) {
    const done = movedTo(rows, period, 'done');
    const merged = pullsByIssue(rows).filter(
      (pullRequests) => done.has(pullRequests.issueId) && pullRequests.firstMergedAt !== null,
    );
    const paused = rows.issues.filter(({ isPaused, pausedAt }) => isPaused && isWithin(period, pausedAt));
    return percentOf(merged.length, merged.length + paused.length);
  },
  time_to_first_pr(rows, period) {
    const created = creationTimes(rows);
    const first = pullsByIssue(rows).filter(({ firstOpenedAt }) => isWithin(period, firstOpenedAt));
    return medianOf(first.map(({ issueId, firstOpenedAt }) => firstOpenedAt - (created.get(issueId) ?? Number.NaN)));
  },
  review_pass_rate(rows, period) {
    const merged = mergedPulls(rows, period);
    return ratioOf(merged.filter(({ cycles }) => cycles === 0).length, merged.length);
  },
  avg_review_cycles(rows, period) {
    const merged = mergedPulls(rows, period);
    return ratioOf(
      merged.reduce((all, { cycles }) => all + cycles, 0),
      merged.length,
    );
  },
  pr_revert_rate(rows, period) {
    const merged = mergedPulls(rows, period);
    return ratioOf(merged.filter(({ isReverted }) => isReverted).length, merged.length);
  },
  agent_attribution(rows, period) {
    const merged = mergedPulls(rows, period);
    return ratioOf(merged.filter(({ byAgent }) => byAgent).length, merged.length);
  },
  autonomous_merge_rate(rows, period) {
    const merged = mergedIssues(rows, period);
    return percentOf(merged.filter(({ isAutonomous }) => isAutonomous).length, merged.length);
  },
} as const satisfies Record<string, Metric>;
