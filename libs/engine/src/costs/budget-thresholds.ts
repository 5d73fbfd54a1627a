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
  addDailySpend,
  addToLimitedDay,
  type DailySpend,
  forgetPastDays,
  type IssueRow,
  noteTold,
  repoById,
  updateIssue,
} from '@pipeline/store';
import { raiseAlert, resolveAlert } from '../alerts/alerts.ts';
import type { TransactionContext } from '../context/context.ts';
import { recordPipelineEvent } from '../records/records.ts';

/** The alerts of a tenant's day; the next day has the same fingerprints. */
const OF_DAY = 'budget:day';

/**
 * Adds the transaction's spending to the tenant's day and reports reached thresholds. Without a limit there are none,
 * and what was reported under an earlier limit is resolved by `enforceBudgets`.
 * @param repoId a repo of the spending: that of the day's events.
 */
export async function addToDay(unit: TransactionContext, repoId: number): Promise<void> {
  const spending = { repoId, usd: unit.bookedUsd };
  unit.bookedUsd = 0;
  if (unit.settings.costLimits.dailyUsd === null) await addDailySpend(unit.tx, unit.tenantId, spending);
  else await reportDayThresholds(unit, await addToLimitedDay(unit.tx, unit.tenantId, spending));
}

/** Reports the thresholds that a day has reached or left since the last report; its row is locked. */
export async function reportDayThresholds(unit: TransactionContext, day: DailySpend): Promise<void> {
  const { dailyUsd } = unit.settings.costLimits;
  const reached = reachedPercent(day.spent_usd, dailyUsd);
  if (reached === day.told_percent) return;
  await reportThreshold(unit, {
    scope: 'day',
    subject: { issue: { id: null, repo_id: day.last_repo_id, issue_number: null } },
    fingerprint: OF_DAY,
    of: "today's budget",
    about: {},
    spent: day.spent_usd,
    limit: dailyUsd,
    ...thresholdChanges(day.told_percent, reached),
  });
  await noteTold(unit.tx, unit.tenantId, day.day, reached);
}

/** Resolves the alerts of past days that do not apply today. */
export async function resolvePastDays(unit: TransactionContext, today: DailySpend | undefined): Promise<void> {
  const reportedBefore = await forgetPastDays(unit.tx, unit.tenantId);
  for (const percent of thresholdChanges(reportedBefore, today?.told_percent ?? null).left) {
    await resolveAlert(unit, `${OF_DAY}:${percent}`);
  }
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
