import { type Engine, handleEach } from '@pipeline/engine';
import { type Logger, sleep } from '@pipeline/runtime';
import {
  type Db,
  deleteOldAlertDeliveries,
  deleteOldAlerts,
  deleteOldChecks,
  deleteOldDeliveries,
  deleteOldInvitations,
  deleteOldKpis,
  deleteOldLoopProblems,
  deleteOldPeriods,
  deleteOldProjections,
  deleteOldReloads,
  deleteOldRollups,
  deleteOldRuns,
  deleteOldWorkers,
  dropPartitions,
  makePartitions,
  PARTITIONED,
  type PartitionedTable,
} from '@pipeline/store';

/** A host repeats a delivery for three days at most. */
const DELIVERIES_KEPT_MS = 7 * 24 * 60 * 60_000;

/** Reports look back over weeks. A worker that left so long ago is in none. */
const PERIODS_KEPT_MS = 90 * 24 * 60 * 60_000;

/** An alert that has been over for so long is history. */
const ALERTS_KEPT_MS = 90 * 24 * 60 * 60_000;

/** The list of invitations shows ended ones; after so long, the audit log is enough. */
const INVITATIONS_KEPT_MS = 90 * 24 * 60 * 60_000;

/** Processes that are gone leave a row. */
const PROCESSES_KEPT_MS = 30 * 24 * 60 * 60_000;

/** A year, and the weeks that its first day was compared with. */
const KPIS_KEPT_DAYS = 400;

/** Number of months for which partitions are created in advance: rows that are late by a month still find theirs. */
const MONTHS_AHEAD = 3;

/** Rest after a batch while more is due: requests keep most of the database, and 5,000 rows a second are deleted. */
const REST_MS = 1_000;

/**
 * Makes the partitions of the months to come, drops those whose time is over and deletes old rows, by the current
 * settings. @returns 'again' while there is more to delete, after a rest.
 */
export async function runRetention(engine: Engine, log: Logger, signal: AbortSignal): Promise<'again' | undefined> {
  const more = await retain(engine, log);
  return more && (await sleep(REST_MS, signal)) ? 'again' : undefined;
}

interface Step {
  /** Name of what it creates or deletes, for the log of a failure. */
  of: string;
  /** @returns true when there may be more to delete. */
  run(): Promise<unknown>;
}

/**
 * One step that fails, for example because its table is locked for long, does not keep the others from theirs.
 * @returns whether there may be more to delete. @throws AggregateError with the steps that failed.
 */
async function retain(engine: Engine, log: Logger): Promise<boolean> {
  const { db } = engine.store;
  const { eventsDays, messagesDays, runsDays, projectionsDays } = engine.settings().retention;
  const daysOf = (table: PartitionedTable) => (table === 'agent_messages' ? messagesDays : eventsDays);
  const steps: Step[] = [
    ...(Object.keys(PARTITIONED) as PartitionedTable[]).map((table) => ({
      of: `partitions of ${table}`,
      run: () => renewPartitions(db, { table, days: daysOf(table) }, log),
    })),
    { of: 'alerts', run: () => deleteOldAlerts(db, ALERTS_KEPT_MS) },
    { of: 'deliveries of alerts', run: () => deleteOldAlertDeliveries(db, ALERTS_KEPT_MS) },
    { of: 'KPIs', run: () => deleteOldKpis(db, KPIS_KEPT_DAYS) },
    { of: 'rollups', run: () => deleteOldRollups(db) },
    { of: 'configuration reloads', run: () => deleteOldReloads(db, PROCESSES_KEPT_MS) },
    { of: 'problems of loops', run: () => deleteOldLoopProblems(db, PROCESSES_KEPT_MS) },
    { of: 'webhook deliveries', run: () => deleteOldDeliveries(db, DELIVERIES_KEPT_MS) },
    { of: 'worker periods', run: () => deleteOldPeriods(db, PERIODS_KEPT_MS) },
    { of: 'workers', run: () => deleteOldWorkers(db, PERIODS_KEPT_MS) },
    { of: 'invitations', run: () => deleteOldInvitations(db, INVITATIONS_KEPT_MS) },
    { of: 'runs', run: () => deleteOldRuns(db, runsDays) },
    { of: 'checks', run: () => deleteOldChecks(db, runsDays) },
    { of: 'host writes', run: () => deleteOldProjections(db, projectionsDays) },
  ];
  return (await handleEach('retention', steps, ({ run }) => run())).includes(true);
}

async function renewPartitions(
  db: Db,
  { table, days }: { table: PartitionedTable; days: number },
  log: Logger,
): Promise<void> {
  const made = await makePartitions(db, table, MONTHS_AHEAD);
  if (made.length > 0) log.info('partitions created', { table, months: made });
  const dropped = await dropPartitions(db, table, days);
  if (dropped.length > 0) log.info('partitions dropped', { table, months: dropped });
}
