import type { Alert, AlertDetector, AlertSeverity } from '@pipeline/domain';
import { timeOrderedId } from '@pipeline/runtime/time-ordered-id';
import { type Selectable, sql } from 'kysely';
import { msInterval, svcNow } from '../driver/clock.ts';
import type { DB } from '../driver/database.generated.ts';
import type { Db, Tx } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';

export type AlertRow = Selectable<DB['alerts']>;

export interface AlertInput {
  severity: AlertSeverity;
  detector: AlertDetector;
  /** Identity of an alert: one row per tenant and fingerprint. */
  fingerprint: string;
  message: string;
  /** Slug, owner/name. */
  repo?: string | null;
  issueNumber?: number | null;
  workerId?: string | null;
  /** The measured value and the limit that it passed; the detector defines the unit. */
  value?: number | null;
  threshold?: number | null;
}

/**
 * Raises an alert: inserts a row, counts an open one, or starts a new episode of a resolved one (first seen now, count
 * 1). Severity is that of the newest call. @returns the row; `count` 1 = a new episode.
 */
export async function upsertAlert(tx: Tx, tenantId: number, alert: AlertInput): Promise<AlertRow> {
  const seen = {
    severity: alert.severity,
    detector: alert.detector,
    message: alert.message,
    repo: alert.repo ?? null,
    issue_number: alert.issueNumber ?? null,
    worker_id: alert.workerId ?? null,
    value: alert.value ?? null,
    threshold: alert.threshold ?? null,
  };
  const at = { first_seen_at: svcNow, last_seen_at: svcNow };
  return tx
    .insertInto('alerts')
    .values({ tenant_id: tenantId, id: timeOrderedId(), fingerprint: alert.fingerprint, ...seen, ...at })
    .onConflict((c) =>
      c.columns(['tenant_id', 'fingerprint']).doUpdateSet((eb) => ({
        ...seen,
        first_seen_at: sql<string>`case when alerts.resolved_at is null then alerts.first_seen_at
          else excluded.first_seen_at end`,
        last_seen_at: eb.ref('excluded.last_seen_at'),
        count: sql<number>`case when alerts.resolved_at is null then alerts.count + 1 else 1 end`,
        resolved_at: null,
      })),
    )
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Resolves an open alert. @returns it, or undefined when none with that fingerprint is open. */
export const closeAlert = (tx: Tx, tenantId: number, fingerprint: string): Promise<AlertRow | undefined> =>
  tx
    .updateTable('alerts')
    .set({ resolved_at: svcNow })
    .where('tenant_id', '=', tenantId)
    .where('fingerprint', '=', fingerprint)
    .where('resolved_at', 'is', null)
    .returningAll()
    .executeTakeFirst();

/** The row in the form of the API. */
export const toAlert = (row: AlertRow): Alert => ({
  id: row.id,
  severity: row.severity,
  detector: row.detector,
  message: row.message,
  fingerprint: row.fingerprint,
  repo: row.repo,
  issueNumber: row.issue_number,
  workerId: row.worker_id,
  value: row.value,
  threshold: row.threshold,
  firstSeenAt: row.first_seen_at,
  lastSeenAt: row.last_seen_at,
  count: row.count,
  resolved: row.resolved_at !== null,
  resolvedAt: row.resolved_at,
});

interface AlertFilter {
  severity?: AlertSeverity | undefined;
  detector?: AlertDetector | undefined;
  /** Slug; compared without case. */
  repo?: string | undefined;
  issueNumber?: number | undefined;
  /** Undefined: open and resolved alerts. */
  resolved?: boolean | undefined;
  /** Alerts of one tenant; undefined: of all tenants and of the deployment. */
  tenantId?: number | undefined;
}

/**
 * Matching alerts, last seen first, and their total. Cost: at most the rows of the table, one per distinct problem
 * within the retention time; open ones by their own index.
 */
export async function listAlerts(
  fleet: Db,
  filter: AlertFilter,
  page: { limit: number; offset: number },
): Promise<{ items: Alert[]; total: number }> {
  const { severity, detector, repo, issueNumber, resolved, tenantId } = filter;
  const matching = fleet
    .selectFrom('alerts')
    .$if(severity !== undefined, (q) => q.where('severity', '=', severity as AlertSeverity))
    .$if(detector !== undefined, (q) => q.where('detector', '=', detector as AlertDetector))
    .$if(repo !== undefined, (q) => q.where(sql`lower(repo)`, '=', repo?.toLowerCase()))
    .$if(issueNumber !== undefined, (q) => q.where('issue_number', '=', issueNumber as number))
    .$if(resolved !== undefined, (q) => q.where('resolved_at', resolved ? 'is not' : 'is', null))
    .$if(tenantId !== undefined, (q) => q.where('tenant_id', '=', tenantId as number));
  const rows = await matching
    .modifyFront(fleetNote('operators see all tenants'))
    .selectAll()
    .orderBy('last_seen_at', 'desc')
    .orderBy('id')
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  const { n } = await matching
    .modifyFront(fleetNote('operators see all tenants'))
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow();
  return { items: rows.map(toAlert), total: n };
}

/** Open alerts of one detector over all tenants, with the time they were last seen. */
export const openAlertsOf = (fleet: Db, detector: AlertDetector) =>
  fleet
    .selectFrom('alerts')
    .modifyFront(fleetNote('detectors watch all tenants'))
    .select(['tenant_id', 'fingerprint', 'severity', 'message'])
    .where('detector', '=', detector)
    .where('resolved_at', 'is', null)
    .execute();

/** Fingerprints of the open alerts of one detector; few, for a tenant has few open alerts (index alerts_open). */
export async function openFingerprints(db: Db, tenantId: number, detector: AlertDetector): Promise<string[]> {
  const rows = await db
    .selectFrom('alerts')
    .select('fingerprint')
    .where('tenant_id', '=', tenantId)
    .where('detector', '=', detector)
    .where('resolved_at', 'is', null)
    .orderBy('fingerprint')
    .execute();
  return rows.map(({ fingerprint }) => fingerprint);
}

const SEVERITY_ORDER = sql`array_position(array['critical', 'warning', 'info'], severity)`;

/** Open alerts, most severe first and then newest (index alerts_open). */
export async function openAlerts(fleet: Db, limit: number): Promise<Alert[]> {
  const rows = await fleet
    .selectFrom('alerts')
    .modifyFront(fleetNote('operators see all tenants'))
    .selectAll()
    .where('resolved_at', 'is', null)
    .orderBy(SEVERITY_ORDER)
    .orderBy('first_seen_at', 'desc')
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(toAlert);
}

/** Deletes alerts that were resolved longer ago. There are few: one row per distinct problem. */
export async function deleteOldAlerts(fleet: Db, keptMs: number): Promise<void> {
  await sql`
    ${fleetNote('retention')}
    delete from alerts where resolved_at < svc_now() - ${msInterval(keptMs)}`.execute(fleet);
}
