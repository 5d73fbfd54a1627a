import { mean, median, percent, ratio } from '../figures.ts';
import type { State } from '../states.ts';
import { MINUTE_MS } from '../windows.ts';
import type { Metric } from './definition.ts';
import { countIn, cyclesBefore, enteredIn, inPeriod, mergedIn, mergedIssuesIn, pullsByIssue } from './issue-facts.ts';

export const IN_FLIGHT_STATES = [
  'analyzing',
  'planning',
  'ready-for-dev',
  'in-review',
  'changes-requested',
  'merge-pending',
  'waiting-for-subtasks',
] as const satisfies readonly State[];
export const IN_PROGRESS_STATES = [
  'dependency-blocked',
  'failure-blocked',
  'waiting-for-subtasks',
] as const satisfies readonly State[];
export const BLOCKED_STATES = [
  'dependency-blocked',
  'failure-blocked',
  'needs-clarification',
] as const satisfies readonly State[];

const now = { group: 'Issues', unit: 'count', window: 'now' } as const;
const lately = { group: 'Issues', window: '7 d or 30 d' } as const;
const metrics = (field: string) => `GET /dashboard, metrics[repo].${field}`;

const COUNTS: Metric[] = [
  {
    ...now,
    id: 'open_issues',
    label: 'Open Issues',
    formula: 'issues in any state except done that are not paused; live counts polled every 3 s',
    source: metrics('openIssues'),
    compute: ({ issues }) => issues.filter(({ state, isPaused }) => state !== 'done' && !isPaused).length,
  },
  {
    ...now,
    id: 'in_flight',
    label: 'In-flight',
    formula: `issues in ${IN_FLIGHT_STATES.join(', ')}`,
    source: metrics('inFlight'),
    compute: (history) => countIn(history, IN_FLIGHT_STATES),
  },
  {
    ...now,
    id: 'in_progress',
    label: 'In Progress',
    formula: `issues in ${IN_PROGRESS_STATES.join(', ')}; narrower than In-flight, but not a subset of it`,
    source: metrics('inProgress'),
    compute: (history) => countIn(history, IN_PROGRESS_STATES),
  },
  {
    ...now,
    id: 'blocked',
    label: 'Blocked',
    formula: `issues in ${BLOCKED_STATES.join(', ')}; the flag isBlocked excludes needs-clarification`,
    source: metrics('blocked'),
    compute: (history) => countIn(history, BLOCKED_STATES),
  },
  {
    ...now,
    id: 'awaiting_review',
    label: 'Awaiting Review',
    formula: 'issues in human-review-ready',
    source: metrics('awaitingReview'),
    compute: (history) => countIn(history, ['human-review-ready']),
  },
];

const FLOW: Metric[] = [
  {
    ...lately,
    id: 'throughput',
    label: 'Throughput',
    unit: 'count',
    formula: 'issues that moved to done in the window; each counts once',
    source: metrics('throughput'),
    compute: (history, period) => enteredIn(history, period, ['done']).size,
  },
  {
    ...lately,
    id: 'cycle_time',
    label: 'Cycle Time',
    unit: 'minutes',
    formula:
      'median of (minutes from the issue to its first pull request + minutes from there to its first merge) over issues that reached done in the window and were merged',
    source: metrics('cycleTimeMinutes'),
    compute(history, period) {
      const done = enteredIn(history, period, ['done']);
      const created = new Map(history.issues.map((issue) => [issue.id, issue.createdAt]));
      return median(
        pullsByIssue(history).flatMap(({ issueId, firstOpenedAt, firstMergedAt }) => {
          const from = created.get(issueId);
          if (!done.has(issueId) || firstMergedAt === null || from === undefined) return [];
          return [(firstOpenedAt - from) / MINUTE_MS + (firstMergedAt - firstOpenedAt) / MINUTE_MS];
        }),
      );
    },
  },
  {
    ...lately,
    id: 'success_rate',
    label: 'Success Rate',
    unit: 'percent',
    formula:
      'merged / (merged + paused); merged = done in the window with a merged pull request, paused = paused in the window and still so; cancelled issues are in neither',
    source: metrics('successRatePct'),
    compute(history, period) {
      const done = enteredIn(history, period, ['done']);
      const merged = pullsByIssue(history).filter((p) => done.has(p.issueId) && p.firstMergedAt !== null).length;
      const paused = history.issues.filter((issue) => issue.isPaused && inPeriod(period, issue.pausedAt)).length;
      return percent(merged, merged + paused);
    },
  },
  {
    ...lately,
    id: 'time_to_first_pr',
    label: 'Time to First PR',
    unit: 'ms',
    formula:
      'median of (first pull request opened - issue created) over issues whose first pull request was opened in the window',
    source: metrics('timeToFirstPrMs'),
    compute(history, period) {
      const created = new Map(history.issues.map((issue) => [issue.id, issue.createdAt]));
      const first = pullsByIssue(history).filter(({ firstOpenedAt }) => inPeriod(period, firstOpenedAt));
      return median(
        first.flatMap(({ issueId, firstOpenedAt }) => firstOpenedAt - (created.get(issueId) ?? Number.NaN)),
      );
    },
  },
];

const QUALITY: Metric[] = [
  {
    ...lately,
    id: 'review_pass_rate',
    label: 'Review Pass Rate',
    unit: 'ratio',
    formula: 'first-pass approvals / merged pull requests; first pass = no changes were requested before the merge',
    source: metrics('reviewPassRatio'),
    compute(history, period) {
      const merged = mergedIn(history, period);
      const passed = merged.filter((pr) => cyclesBefore(history, pr.issueId, pr.mergedAt as number) === 0);
      return ratio(passed.length, merged.length);
    },
  },
  {
    ...lately,
    id: 'avg_review_cycles',
    label: 'Avg Review Cycles',
    unit: 'count',
    formula: 'mean number of entries into changes-requested before the merge, per merged pull request',
    source: metrics('avgReviewCycles'),
    compute: (history, period) =>
      mean(mergedIn(history, period).map((pr) => cyclesBefore(history, pr.issueId, pr.mergedAt as number))),
  },
  {
    ...lately,
    id: 'pr_revert_rate',
    label: 'PR Revert Rate',
    unit: 'ratio',
    formula: 'pull requests merged in the window that a later merge reverts / merged pull requests',
    source: metrics('prRevertRatio'),
    compute(history, period) {
      const merged = mergedIn(history, period);
      return ratio(merged.filter((pr) => pr.isReverted).length, merged.length);
    },
  },
  {
    ...lately,
    id: 'agent_attribution',
    label: 'Agent Attribution',
    unit: 'ratio',
    formula: 'agent-authored merged pull requests / merged pull requests, shown as agent % and human %',
    source: `GET /api/pipeline/attribution; ${metrics('agentAttributionRatio')}`,
    compute(history, period) {
      const merged = mergedIn(history, period);
      return ratio(merged.filter((pr) => pr.agentAuthored).length, merged.length);
    },
  },
  {
    ...lately,
    id: 'autonomous_merge_rate',
    label: 'Autonomous Merge Rate',
    unit: 'percent',
    formula:
      'autonomous issues / merged issues; merged = the first merge falls in the window, autonomous = no changes were requested before it and every pull request is agent-authored',
    source: `GET /api/pipeline/autonomy; ${metrics('autonomousMergePct')}`,
    compute(history, period) {
      const merged = mergedIssuesIn(history, period);
      return percent(merged.filter(({ isAutonomous }) => isAutonomous).length, merged.length);
    },
  },
];

export const ISSUE_METRICS: readonly Metric[] = [...COUNTS, ...FLOW, ...QUALITY];
