import { DEFAULT_SETTINGS } from '@pipeline/domain';

const { eventsDays, messagesDays, runsDays, projectionsDays } = DEFAULT_SETTINGS.retention;

/** A table whose old rows are deleted. */
export interface Retained {
  table: string;
  /** Column of the age. */
  time: string;
  days: number;
  /** Whole months are dropped, or rows deleted. */
  by: 'month' | 'row';
  /** Condition of rows that are deleted at all. */
  where: string;
  /** Expression whose sum over rows identifies them. */
  key: string;
}

const SETTLED = "status in ('complete', 'discarded')";

/** Retention as operations.md documents it, independent of the code of the monitor. */
export const RETAINED: readonly Retained[] = [
  { table: 'pipeline_events', time: 'created_at', days: eventsDays, by: 'month', where: 'true', key: 'id' },
  { table: 'issue_events', time: 'created_at', days: eventsDays, by: 'month', where: 'true', key: 'id' },
  { table: 'cost_events', time: 'created_at', days: eventsDays, by: 'month', where: 'true', key: 'id' },
  {
    table: 'agent_messages',
    time: 'task_created_at',
    days: messagesDays,
    by: 'month',
    where: 'true',
    key: 'hashtext(task_id::text)::bigint + sequence',
  },
  { table: 'runs', time: 'finished_at', days: runsDays, by: 'row', where: "status <> 'claimed'", key: 'id' },
  { table: 'projections', time: 'updated_at', days: projectionsDays, by: 'row', where: SETTLED, key: 'id' },
  {
    table: 'webhook_deliveries',
    time: 'processed_at',
    days: 7,
    by: 'row',
    where: "delivery_id like 'filled-%'",
    key: 'hashtext(delivery_id)',
  },
  {
    table: 'worker_periods',
    time: 'ended_at',
    days: 90,
    by: 'row',
    where: 'true',
    key: 'hashtext(worker_id || kind || started_at)',
  },
  { table: 'kpi_snapshots', time: 'day', days: 400, by: 'row', where: 'true', key: 'hashtext(kpi || day || repo_id)' },
];

/** Tables that keep every row, and rows that retention must not touch. */
export const UNTOUCHED: readonly { what: string; from: string; key: string }[] = [
  { what: 'issues', from: 'issues', key: 'id' },
  { what: 'transitions', from: 'transitions', key: 'id' },
  { what: 'pull requests', from: 'pull_requests', key: 'id' },
  { what: 'artefacts', from: 'artefacts', key: 'id' },
  { what: 'findings', from: 'findings', key: 'hashtext(id::text)' },
  { what: 'retrospectives', from: 'retrospectives', key: 'hashtext(id::text)' },
  { what: 'dead letters', from: 'dead_letters', key: 'hashtext(id::text)' },
  { what: 'failed host writes', from: "projections where status = 'failed'", key: 'id' },
  { what: 'runs in progress', from: "runs where status = 'claimed'", key: 'id' },
  { what: 'counts of transitions', from: 'transition_counts', key: 'n' },
  { what: 'counts of tasks', from: 'task_counts', key: 'n' },
  { what: 'costs by day and month', from: "cost_sums where grain <> 'hour'", key: 'usd' },
];

/** Days that the history reaches back beyond the retention of each table: a monitor that deleted nothing meanwhile. */
export const BEHIND_DAYS = 60;

/** Days that rows of a table are filled for; tables without retention go back as far as events. */
export function filledDays(table: string): number {
  const days = RETAINED.find((one) => one.table === table)?.days;
  if (table === 'projection_attempts') return projectionsDays + BEHIND_DAYS;
  return (days ?? eventsDays) + BEHIND_DAYS;
}

/** Months that have a partition when nothing is due, oldest first, as YYYY-MM. */
export function expectedMonths(now: Date, keptDays: number, ahead: number): string[] {
  const oldest = new Date(now.getTime() - keptDays * 24 * 60 * 60_000);
  const count =
    (now.getUTCFullYear() - oldest.getUTCFullYear()) * 12 + now.getUTCMonth() - oldest.getUTCMonth() + ahead;
  return Array.from({ length: count + 1 }, (_, n) => monthAfter(oldest, n));
}

export const monthAfter = (at: Date, months: number): string =>
  new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + months, 1)).toISOString().slice(0, 7);
