import { isOutputLabel, outputLabels } from '../labels.ts';
import { MINUTE_MS } from '../windows.ts';
import type { Metric } from './definition.ts';
import type { EdgeFact, History, IssueFact } from './history.ts';

const findings = {
  group: 'Data consistency',
  unit: 'count',
  window: 'now',
  source: 'GET /api/consistency; GET /api/pipeline/consistency, byKind',
} as const;

const activeEdges = ({ edges }: History, kind: EdgeFact['kind']): EdgeFact[] =>
  edges.filter((edge) => edge.isActive && edge.kind === kind);

const isDone = ({ issues }: History, number: number): boolean =>
  issues.some((issue) => issue.number === number && issue.state === 'done');

/** Whether the labels show another state, block or pause than the issue has. */
function hasDrifted(issue: IssueFact): boolean {
  const wanted = outputLabels(issue);
  const shown = issue.labels.filter(isOutputLabel);
  return wanted.some((label) => !issue.labels.includes(label)) || shown.some((label) => !wanted.includes(label));
}

const KINDS: Metric[] = [
  {
    ...findings,
    id: 'stale_blocked',
    label: 'stale_blocked',
    formula: 'is_blocked is true, the state is not done, and there is no active depends_on edge',
    compute(history) {
      const waiting = new Set(activeEdges(history, 'depends_on').map(({ child }) => child));
      return history.issues.filter((i) => i.isBlocked && i.state !== 'done' && !waiting.has(i.number)).length;
    },
  },
  {
    ...findings,
    id: 'stale_subtask_edge',
    label: 'stale_subtask_edge',
    formula: 'an active subtask edge whose parent epic is done; one finding per epic',
    compute: (history) =>
      new Set(
        activeEdges(history, 'subtask')
          .map(({ parent }) => parent)
          .filter((epic) => isDone(history, epic)),
      ).size,
  },
  {
    ...findings,
    id: 'orphan_missing_from_pg',
    label: 'orphan_missing_from_pg',
    formula: 'an open host issue without a pipeline record (optional detector: requires a host API call)',
    compute({ issues, openOnHost }) {
      const known = new Set(issues.map(({ number }) => number));
      return openOnHost.filter((number) => !known.has(number)).length;
    },
  },
  {
    ...findings,
    id: 'si_linkage_gap',
    label: 'si_linkage_gap',
    formula: 'a self-improvement issue whose pipeline issue is done but whose completed_at is null',
    compute: (history) =>
      history.siIssues.filter(({ number, completedAt }) => completedAt === null && isDone(history, number)).length,
  },
  {
    ...findings,
    id: 'label_drift',
    label: 'label_drift',
    formula:
      'state, is_blocked or is_paused disagrees with the stored labels; done issues, and those that the outbox has still to write, are left out',
    compute({ issues, projections }) {
      const writing = new Set(projections.filter((p) => p.status === 'pending').map((p) => p.issueNumber));
      return issues.filter((i) => i.state !== 'done' && !writing.has(i.number) && hasDrifted(i)).length;
    },
  },
  {
    ...findings,
    id: 'orphan_dependency_edge',
    label: 'orphan_dependency_edge',
    formula:
      'an edge whose parent or child has no pipeline record; one finding for the issue that waits, the child of a dependency or the epic of a subtask',
    compute({ issues, edges }) {
      const known = new Set(issues.map(({ number }) => number));
      const broken = edges.filter(({ parent, child }) => !known.has(parent) || !known.has(child));
      return new Set(broken.map(({ kind, parent, child }) => (kind === 'subtask' ? parent : child))).size;
    },
  },
];

export const HEALTH_METRICS: readonly Metric[] = [
  {
    id: 'sla_breach',
    group: 'Service levels',
    label: 'SLA breach',
    unit: 'minutes',
    window: 'now',
    formula:
      'now - stateEnteredAt, of issues for which it is >= warn_after_minutes of their state; done and paused ones are left out',
    source: 'alerts of the detector sla_breach',
    compute({ issues, warnAfterMinutes }, { now }) {
      const standing = issues
        .filter(({ state, isPaused }) => state !== 'done' && !isPaused)
        .map(({ number, state, stateEnteredAt }) => {
          return { number, minutes: (now - stateEnteredAt) / MINUTE_MS, limit: warnAfterMinutes[state] };
        });
      const breaching = standing.filter(({ minutes, limit }) => limit !== undefined && minutes >= limit);
      return Object.fromEntries(breaching.map(({ number, minutes }) => [`#${number}`, minutes]));
    },
  },
  ...KINDS,
];
