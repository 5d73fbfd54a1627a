import { isUsedUp } from '@pipeline/domain';
import {
  budgetDays,
  claimableTasks,
  countHeldByBudget,
  holdClaimable,
  issuesWithOutdatedReport,
  lockIssue,
  lockPending,
  lockToday,
  releasableFromBudget,
  setTask,
  tenantsHeldByBudget,
} from '@pipeline/store';
import { type Engine, inTenant, type TransactionContext } from '../context/context.ts';
import { loadIssueContext } from '../context/load-issue.ts';
import { projectIssue } from '../outbox/project.ts';
import { reportDayThresholds, reportIssueThresholds, resolvePastDays } from './budget-thresholds.ts';
import { currentHold } from './holds.ts';

const BATCH = 500;
/**
 * A used-up day is shown on the host for at most this many issues of a tenant; all would exhaust the host's write
 * limit.
 */
const MAX_SHOWN_ON_HOST = 50;

/**
 * Reconciles holds and alerts with the current budgets, whatever changed: the day turned, a limit was set, raised,
 * lowered or removed, or a budget was exceeded. Raises and resolves alerts, holds the tasks of a tenant whose day is
 * used up, and releases tasks held without a reason. Claims check the day themselves, so no task starts meanwhile.
 * Candidates are read without a lock and checked again under their own, so any number of processes may run this.
 * @returns whether there is more to do immediately.
 */
export async function enforceBudgets(engine: Engine): Promise<boolean> {
  const { dailyUsd, perIssueUsd } = engine.settings().costLimits;
  const days = await budgetDays(engine.store.fleet, dailyUsd === null ? null : dailyUsd * 0.8);
  for (const tenantId of new Set(days.map((day) => day.tenant_id))) await reportDays(engine, tenantId);
  for (const { tenant_id, id } of await issuesWithOutdatedReport(engine.store.fleet, perIssueUsd, BATCH)) {
    await reportIssue(engine, tenant_id, id);
  }
  const usedUp = new Set(
    days.filter((day) => day.is_today && isUsedUp(day.spent_usd, dailyUsd)).map((day) => day.tenant_id),
  );
  let full = false;
  for (const tenantId of usedUp) full = (await holdTenant(engine, tenantId)) || full;
  for (const tenantId of await tenantsHeldByBudget(engine.store.fleet)) {
    if (!usedUp.has(tenantId)) full = (await releaseTenant(engine, tenantId)) || full;
  }
  return full;
}

const reportDays = (engine: Engine, tenantId: number): Promise<void> =>
  inTenant(engine, tenantId, async (unit) => {
    const today = await lockToday(unit.tx, tenantId);
    await resolvePastDays(unit, today);
    if (today) await reportDayThresholds(unit, today);
  });

const reportIssue = (engine: Engine, tenantId: number, issueId: number): Promise<void> =>
  inTenant(engine, tenantId, async (unit) => {
    const issue = await lockIssue(unit.tx, tenantId, issueId);
    if (issue) await reportIssueThresholds(unit, issue);
  });

/** The next tasks in the queue show on the host why they wait; one statement holds the rest. */
async function holdTenant(engine: Engine, tenantId: number): Promise<boolean> {
  const db = engine.store.tenant;
  const untold = MAX_SHOWN_ON_HOST - (await countHeldByBudget(db, tenantId, MAX_SHOWN_ON_HOST));
  for (const task of untold > 0 ? await claimableTasks(db, tenantId, untold) : []) {
    await updateHold(engine, tenantId, { taskId: task.id, issueId: task.issue_id, from: null });
  }
  return (await holdClaimable(db, tenantId, BATCH)) === BATCH;
}

async function releaseTenant(engine: Engine, tenantId: number): Promise<boolean> {
  const { perIssueUsd } = engine.settings().costLimits;
  const tasks = await releasableFromBudget(engine.store.tenant, tenantId, perIssueUsd, BATCH);
  for (const task of tasks) {
    await updateHold(engine, tenantId, { taskId: task.id, issueId: task.issue_id, from: 'budget' });
  }
  return tasks.length === BATCH;
}

interface HeldTask {
  taskId: string;
  issueId: number | null;
  /** The expected hold; a task with another one by now is unchanged. */
  from: 'budget' | null;
}

/** Sets the current hold of a pending task, and shows it on the host. */
const updateHold = (engine: Engine, tenantId: number, { taskId, issueId, from }: HeldTask): Promise<void> =>
  inTenant(engine, tenantId, async (unit: TransactionContext) => {
    const issue = issueId === null ? undefined : await lockIssue(unit.tx, tenantId, issueId);
    const task = await lockPending(unit.tx, tenantId, taskId);
    if (!task || task.held !== from) return;
    const held = (await currentHold(unit, issue)) ?? (task.in_backoff ? 'backoff' : null);
    if (held === from) return;
    await setTask(unit.tx, tenantId, taskId, { held, ...(held === null && { run_after: null }) });
    if (held === null) unit.notify('svc_tasks');
    if (issue) await projectIssue(unit, await loadIssueContext(unit, issue));
  });
