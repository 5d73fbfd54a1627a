import type { Store } from '@pipeline/store';
import {
  blockedIssuesOf,
  consistencyOf,
  dashboardOf,
  deadLettersOf,
  digestOf,
  floorOf,
  type Guarded,
  projectionsOf,
  queueDepthOf,
  type Rows,
  taskQueueOf,
  workersOf,
} from '@pipeline/testing/oracle';
import type { Asker } from './asker.ts';

const STATUSES = ['pending', 'failed', 'complete', 'discarded'];
const PAGES = [
  { limit: 100, offset: 0 },
  { limit: 500, offset: 250 },
];

/** What is asked of the whole deployment: lists, the queue, the fleet, the dashboard, what got worse. */
export async function askLists(asker: Asker, rows: Rows, guarded: Guarded, now: number): Promise<void> {
  const queue = taskQueueOf(rows, now);
  const { pendingTaskCount: _, projectedDrainMs: __, ...listed } = queue;
  await asker.expect('/api/task-queue', listed);
  for (const path of ['/api/pipeline/task-queue', '/pipeline/task-queue']) await asker.expect(path, queue);
  await asker.expect('/api/queue/depth', queueDepthOf(rows, now));
  await asker.expect('/api/workers', { items: workersOf(rows, now), snapshot: true });
  await asker.expect('/api/workers/floor', { items: floorOf(rows, now), snapshot: true });
  await asker.expect('/api/blocked-issues', blockedIssuesOf(rows));
  for (const page of PAGES) {
    await asker.expect(`/api/dead-letters?limit=${page.limit}&offset=${page.offset}`, deadLettersOf(rows, page));
  }
  for (const status of STATUSES) {
    await asker.expect(`/api/projections?status=${status}`, { projections: projectionsOf(rows, [status]) });
  }
  await asker.expect('/api/projections', { projections: projectionsOf(rows, ['pending', 'failed']) });
  await askConsistency(asker, rows);
  await asker.expect('/api/digest', { digest: digestOf(rows, guarded, now) });
  await asker.expect('/api/regression-guard', {
    repos: guarded.map(({ owner, repo, kpis }) => ({
      owner,
      repo,
      kpis: kpis.map((kpi) => ({ ...kpi, history: [{ value: kpi.currentValue }] })),
    })),
  });
}

async function askConsistency(asker: Asker, rows: Rows): Promise<void> {
  const findings = consistencyOf(rows);
  const counts = [...Map.groupBy(findings, ({ kind }) => kind)].map(([kind, all]) => [kind, all.length] as const);
  const wanted = { total: findings.length, byKind: Object.fromEntries(counts) };
  for (const path of ['/api/pipeline/consistency', '/pipeline/consistency']) await asker.expect(path, wanted);
  for (let offset = 0; offset < findings.length; offset += 500) {
    await asker.expect(`/api/consistency?limit=500&offset=${offset}`, {
      items: findings.slice(offset, offset + 500),
      page: { total: findings.length },
    });
  }
}

export async function askDashboard(asker: Asker, rows: Rows, now: number): Promise<void> {
  for (const days of [7, 30] as const) await asker.expect(`/dashboard?window=${days}d`, dashboardOf(rows, days, now));
}

interface AlertRow {
  id: string;
  severity: string;
  detector: string;
  message: string;
  resolved: boolean;
}

/** Alerts are rows; what raised them is looked at where they were made. */
export async function askAlerts(asker: Asker, { fleet }: Store): Promise<void> {
  const rows = await fleet.selectFrom('alerts').selectAll().orderBy('last_seen_at', 'desc').orderBy('id').execute();
  const alerts: AlertRow[] = rows.map(({ id, severity, detector, message, resolved_at }) => ({
    id,
    severity,
    detector,
    message,
    resolved: resolved_at !== null,
  }));
  const ask = (query: string, found: AlertRow[]) =>
    asker.expect(`/api/alerts?limit=500${query}`, { items: found.slice(0, 500), page: { total: found.length } });
  await ask(
    '',
    alerts.filter(({ resolved }) => !resolved),
  );
  await ask('&status=all', alerts);
  for (const detector of new Set(alerts.map((alert) => alert.detector))) {
    await ask(
      `&status=all&detector=${detector}`,
      alerts.filter((alert) => alert.detector === detector),
    );
  }
}
