import { isUsedUp } from '@pipeline/domain';
import {
  claimableTasks,
  countHeldByBudget,
  holdClaimable,
  issuesWithOutdatedReport,
  lockIssue,
  lockPending,
  releasableFromBudget,
  setTask,
  tenantsHeldByBudget,
  tenantsSpending,
  tenantsTold,
} from '@pipeline/store';
import { type Engine, inTenant, type TransactionContext } from '../context/context.ts';
import { handleEach } from '../context/handle-each.ts';
import { loadIssueContext } from '../context/load-issue.ts';
import { projectIssue } from '../outbox/project.ts';
import { reportDays, reportIssueThresholds } from './budget-thresholds.ts';
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
  const { db } = engine.store;
  const { dailyUsd, perIssueUsd } = engine.settings().costLimits;
  const days = dailyUsd === null ? [] : await tenantsSpending(db, dailyUsd * 0.8);
  const usedUp = new Set(days.filter(({ usd }) => isUsedUp(usd, dailyUsd)).map((day) => day.tenant_id));
  const reported = new Set([...days.map((day) => day.tenant_id), ...(await tenantsTold(db))]);
  const issues = await issuesWithOutdatedReport(db, perIssueUsd, BATCH);
  const released = (await tenantsHeldByBudget(db)).filter((tenantId) => !usedUp.has(tenantId));
  return runSteps([
    ...[...reported].map((tenantId) => ({ tenantId, run: () => inTenant(engine, tenantId, reportDays) })),
    ...issues.map(({ tenant_id: tenantId, id: issueId }) => ({
      tenantId,
      issueId,
      run: () => reportIssue(engine, tenantId, issueId),
    })),
    ...[...usedUp].map((tenantId) => ({ tenantId, run: () => holdTenant(engine, tenantId) })),
    ...released.map((tenantId) => ({ tenantId, run: () => releaseTenant(engine, tenantId) })),
  ]);
}

interface Step {
  tenantId: number;
  issueId?: number | null;
  /** @returns true if there is more to do. */
  run: () => Promise<unknown>;
}

/** Runs each step, also if one before it has failed. @returns whether there is more to do. */
const runSteps = async (steps: readonly Step[]): Promise<boolean> =>
  (await handleEach('budgets', steps, ({ run }) => run())).includes(true);

const reportIssue = (engine: Engine, tenantId: number, issueId: number): Promise<void> =>
  inTenant(engine, tenantId, async (unit) => {
    const issue = await lockIssue(unit.tx, tenantId, issueId);
    if (issue) await reportIssueThresholds(unit, issue);
  });

/** The next tasks in the queue show on the host why they wait; one statement holds the rest. */
async function holdTenant(engine: Engine, tenantId: number): Promise<boolean> {
  const db = engine.store.db;
  const untold = MAX_SHOWN_ON_HOST - (await countHeldByBudget(db, tenantId, MAX_SHOWN_ON_HOST));
  const next = untold > 0 ? await claimableTasks(db, tenantId, untold) : [];
  return runSteps([
    ...next.map((task) => holdOf(engine, tenantId, task, null)),
    { tenantId, run: async () => (await holdClaimable(db, tenantId, BATCH)) === BATCH },
  ]);
}

async function releaseTenant(engine: Engine, tenantId: number): Promise<boolean> {
  const { perIssueUsd } = engine.settings().costLimits;
  const tasks = await releasableFromBudget(engine.store.db, tenantId, perIssueUsd, BATCH);
  await runSteps(tasks.map((task) => holdOf(engine, tenantId, task, 'budget')));
  return tasks.length === BATCH;
}

const holdOf = (
  engine: Engine,
  tenantId: number,
  { id: taskId, issue_id: issueId }: { id: string; issue_id: number | null },
  from: HeldTask['from'],
) => ({ tenantId, issueId, run: () => updateHold(engine, tenantId, { taskId, issueId, from }) });

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
