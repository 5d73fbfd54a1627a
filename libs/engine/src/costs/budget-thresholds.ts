import {
  type BudgetPercent,
  type BudgetScope,
  budgetSeverity,
  formatIssueRef,
  formatSlug,
  reachedPercent,
  thresholdChanges,
} from '@pipeline/domain';
import {
  forgetPastDays,
  type IssueRow,
  lastSpendingRepo,
  lockToldToday,
  noteToldToday,
  repoById,
  spentToday,
  toldToday,
  updateIssue,
} from '@pipeline/store';
import { raiseAlert, resolveAlert } from '../alerts/alerts.ts';
import type { TransactionContext } from '../context/context.ts';
import { recordPipelineEvent } from '../records/records.ts';

/** The alerts of a tenant's day; the next day has the same fingerprints. */
const OF_DAY = 'budget:day';

/**
 * Reports the thresholds that the tenant's day has reached or left since the last report. Costs that other transactions
 * record meanwhile may be missing: `enforceBudgets` reports again. Without a limit there are none.
 */
export async function reportSpending(unit: TransactionContext): Promise<void> {
  const { tx, tenantId } = unit;
  const { dailyUsd } = unit.settings.costLimits;
  if (dailyUsd === null) return;
  const [spent, told] = await Promise.all([spentToday(tx, tenantId), toldToday(tx, tenantId)]);
  if (reachedPercent(spent, dailyUsd) !== told) await reportDay(unit, await lockToldToday(tx, tenantId));
}

/** Reports the thresholds of today, whose row is locked, and resolves the alerts of past days that do not apply today. */
export async function reportDays(unit: TransactionContext): Promise<void> {
  const { tx, tenantId } = unit;
  const told = await lockToldToday(tx, tenantId);
  const reportedBefore = await forgetPastDays(tx, tenantId);
  for (const percent of thresholdChanges(reportedBefore, told).left) await resolveAlert(unit, `${OF_DAY}:${percent}`);
  await reportDay(unit, told);
}

async function reportDay(unit: TransactionContext, told: BudgetPercent | null): Promise<void> {
  const { tx, tenantId } = unit;
  const { dailyUsd } = unit.settings.costLimits;
  const spent = await spentToday(tx, tenantId);
  const reached = reachedPercent(spent, dailyUsd);
  if (reached === told) return;
  // Only a passed threshold has an event, and then there is spending.
  const repoId = (await lastSpendingRepo(tx, tenantId)) ?? 0;
  await reportThreshold(unit, {
    scope: 'day',
    subject: { issue: { id: null, repo_id: repoId, issue_number: null } },
    fingerprint: OF_DAY,
    of: "today's budget",
    about: {},
    spent,
    limit: dailyUsd,
    ...thresholdChanges(told, reached),
  });
  await noteToldToday(tx, tenantId, reached);
}

/**
 * Reports the thresholds that the spending of an issue has reached or left; the issue is locked and its row current.
 */
export async function reportIssueThresholds(unit: TransactionContext, issue: IssueRow): Promise<void> {
  const { perIssueUsd } = unit.settings.costLimits;
  const reportedBefore = issue.told_budget_percent;
  const reached = issue.state === 'done' ? null : reachedPercent(issue.cost_usd, perIssueUsd);
  if (reached === reportedBefore) return;
  const repo = await repoById(unit.tx, unit.tenantId, issue.repo_id);
  await reportThreshold(unit, {
    scope: 'issue',
    subject: { issue },
    fingerprint: `budget:issue:${issue.id}`,
    of: `the budget of ${formatIssueRef(repo, issue.issue_number)}`,
    about: { repo: formatSlug(repo), issueNumber: issue.issue_number },
    spent: issue.cost_usd,
    limit: perIssueUsd,
    ...thresholdChanges(reportedBefore, reached),
  });
  await updateIssue(unit.tx, unit.tenantId, issue.id, { told_budget_percent: reached });
}

interface ThresholdReport {
  scope: BudgetScope;
  subject: Parameters<typeof recordPipelineEvent>[1];
  fingerprint: string;
  of: string;
  about: { repo?: string; issueNumber?: number };
  spent: number;
  limit: number | null;
  passed: BudgetPercent[];
  left: BudgetPercent[];
}

async function reportThreshold(
  unit: TransactionContext,
  { scope, subject, fingerprint, of, about, spent, limit, passed, left }: ThresholdReport,
) {
  for (const percent of left) await resolveAlert(unit, `${fingerprint}:${percent}`);
  for (const percent of passed) {
    // An alert that another day left open is resolved: this is a new episode.
    await resolveAlert(unit, `${fingerprint}:${percent}`);
    await raiseAlert(unit, {
      severity: budgetSeverity(scope, percent),
      detector: 'budget_threshold',
      fingerprint: `${fingerprint}:${percent}`,
      message: `${percent} % of ${of} is used${percent === 100 ? ': no new tasks are started' : ''}`,
      ...about,
      value: spent,
      threshold: ((limit ?? 0) * percent) / 100,
    });
    recordPipelineEvent(unit, subject, {
      eventType: 'budget_threshold',
      agent: 'workflow-engine',
      payload: { percent, scope },
    });
  }
  // Wakes the loop that enforces budgets.
  if (passed.includes(100) || left.includes(100)) unit.notify('svc_cache');
}
