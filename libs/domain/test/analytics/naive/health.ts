import type { History } from '@pipeline/domain';
import { minutesBetween, type Naive } from './terms.ts';

const isKnown = (h: History, number: number) => h.issues.some((i) => i.number === number);
const isDone = (h: History, number: number) => h.issues.some((i) => i.number === number && i.state === 'done');
const wantedLabels = (i: History['issues'][number]) => [
  ...(i.state === 'new' ? [] : [`svc:${i.state}`]),
  ...(i.isBlocked ? ['svc:blocked'] : []),
  ...(i.isPaused ? ['svc:paused'] : []),
];

/** Metrics of lateness and contradictions. */
export const HEALTH: Readonly<Record<string, Naive>> = {
  sla_breach(h, p) {
    const late: Record<string, number> = {};
    for (const i of h.issues) {
      const limit = h.warnAfterMinutes[i.state];
      const minutes = minutesBetween(i.stateEnteredAt, p.now);
      if (i.state !== 'done' && !i.isPaused && limit !== undefined && minutes >= limit) late[`#${i.number}`] = minutes;
    }
    return late;
  },
  stale_blocked: (h) =>
    h.issues.filter(
      (i) =>
        i.isBlocked &&
        i.state !== 'done' &&
        !h.edges.some((e) => e.kind === 'depends_on' && e.child === i.number && e.isActive),
    ).length,
  stale_subtask_edge: (h) =>
    h.issues.filter(
      (i) => i.state === 'done' && h.edges.some((e) => e.kind === 'subtask' && e.parent === i.number && e.isActive),
    ).length,
  orphan_missing_from_pg: (h) => h.openOnHost.filter((number) => !isKnown(h, number)).length,
  si_linkage_gap: (h) => h.siIssues.filter((s) => s.completedAt === null && isDone(h, s.number)).length,
  label_drift: (h) =>
    h.issues.filter((i) => {
      if (i.state === 'done' || h.projections.some((w) => w.issueNumber === i.number && w.status === 'pending'))
        return false;
      const shown = i.labels.filter((l) => l.startsWith('svc:') && l !== 'svc:enqueue' && l !== 'svc:urgent');
      return shown.sort().join() !== wantedLabels(i).sort().join();
    }).length,
  orphan_dependency_edge(h) {
    const waits = new Set<number>();
    for (const e of h.edges) {
      if (!isKnown(h, e.child) || !isKnown(h, e.parent)) waits.add(e.kind === 'depends_on' ? e.child : e.parent);
    }
    return waits.size;
  },
};
