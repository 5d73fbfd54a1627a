import { BLOCKED_STATES, IN_FLIGHT_STATES, IN_PROGRESS_STATES } from '../states.ts';
import type { MetricDefinition } from './metric-definition.ts';

const now = { group: 'Issues', unit: 'count', window: 'now' } as const;
const lately = { group: 'Issues', window: '7 d or 30 d' } as const;
const metrics = (field: string) => `GET /dashboard, metrics[repo].${field}`;

const COUNTS: MetricDefinition[] = [
  {
    ...now,
    id: 'open_issues',
    label: 'Open Issues',
    formula: 'issues in any state except done that are not paused; live counts polled every 3 s',
    source: metrics('openIssues'),
  },
  {
    ...now,
    id: 'in_flight',
    label: 'In-flight',
    formula: `issues in ${IN_FLIGHT_STATES.join(', ')}`,
    source: metrics('inFlight'),
  },
  {
    ...now,
    id: 'in_progress',
    label: 'In Progress',
    formula: `issues in ${IN_PROGRESS_STATES.join(', ')}; narrower than In-flight, but not a subset of it`,
    source: metrics('inProgress'),
  },
  {
    ...now,
    id: 'blocked',
    label: 'Blocked',
    formula: `issues in ${BLOCKED_STATES.join(', ')}; the flag isBlocked excludes needs-clarification`,
    source: metrics('blocked'),
  },
  {
    ...now,
    id: 'awaiting_review',
    label: 'Awaiting Review',
    formula: 'issues in human-review-ready',
    source: metrics('awaitingReview'),
  },
];

const FLOW: MetricDefinition[] = [
  {
    ...lately,
    id: 'throughput',
    label: 'Throughput',
    unit: 'count',
    formula: 'issues that moved to done in the window; each counts once',
    source: metrics('throughput'),
  },
  {
    ...lately,
    id: 'cycle_time',
    label: 'Cycle Time',
    unit: 'minutes',
    formula:
      'median of (minutes from the issue to its first pull request + minutes from there to its first merge) over issues that reached done in the window and were merged',
    source: metrics('cycleTimeMinutes'),
  },
  {
    ...lately,
    id: 'success_rate',
    label: 'Success Rate',
    unit: 'percent',
    formula:
      'merged / (merged + paused); merged = done in the window with a merged pull request, paused = paused in the window and still so; cancelled issues are in neither',
    source: metrics('successRatePct'),
  },
  {
    ...lately,
    id: 'time_to_first_pr',
    label: 'Time to First PR',
    unit: 'ms',
    formula:
      'median of (first pull request opened - issue created) over issues whose first pull request was opened in the window',
    source: metrics('timeToFirstPrMs'),
  },
];

const QUALITY: MetricDefinition[] = [
  {
    ...lately,
    id: 'review_pass_rate',
    label: 'Review Pass Rate',
    unit: 'ratio',
    formula: 'first-pass approvals / merged pull requests; first pass = no changes were requested before the merge',
    source: metrics('reviewPassRatio'),
  },
  {
    ...lately,
    id: 'avg_review_cycles',
    label: 'Avg Review Cycles',
    unit: 'count',
    formula: 'mean number of entries into changes-requested before the merge, per merged pull request',
    source: metrics('avgReviewCycles'),
  },
  {
    ...lately,
    id: 'pr_revert_rate',
    label: 'PR Revert Rate',
    unit: 'ratio',
    formula: 'pull requests merged in the window that a later merge reverts / merged pull requests',
    source: metrics('prRevertRatio'),
  },
  {
    ...lately,
    id: 'agent_attribution',
    label: 'Agent Attribution',
    unit: 'ratio',
    formula: 'agent-authored merged pull requests / merged pull requests, shown as agent % and human %',
    source: `GET /api/pipeline/attribution; ${metrics('agentAttributionRatio')}`,
  },
  {
    ...lately,
    id: 'autonomous_merge_rate',
    label: 'Autonomous Merge Rate',
    unit: 'percent',
    formula:
      'autonomous issues / merged issues; merged = the first merge falls in the window, autonomous = no changes were requested before it and every pull request is agent-authored',
    source: `GET /api/pipeline/autonomy; ${metrics('autonomousMergePct')}`,
  },
];

export const ISSUE_METRICS: readonly MetricDefinition[] = [...COUNTS, ...FLOW, ...QUALITY];
