import { MAX_PLAN, type PlanCommand } from '@pipeline/domain';
import { type IssueRow, planCreatedAt } from '@pipeline/store';
import type { TransactionContext } from '../context/context.ts';
import type { Actor } from '../context/issue-context.ts';
import { loadIssueContext } from '../context/load-issue.ts';
import { applyPlanAnswer, planRefusal } from '../issues/plan-answers.ts';

const MAX_REASON = 5_000;

/**
 * Answers the plan of a locked issue by a comment of a person with write permission.
 * @returns whether the answer counted: a rejection needs a reason, an edit its text, and the version must be pending.
 */
export async function applyPlanCommand(
  unit: TransactionContext,
  issue: IssueRow,
  { kind, version: named, text }: PlanCommand,
  { at, ...person }: Actor & { at: string },
): Promise<'applied' | 'refused'> {
  const version = named ?? (await versionAt(unit, issue, at));
  const isTooLong = text.length > (kind === 'edit' ? MAX_PLAN : MAX_REASON);
  if (version === null || isTooLong || planRefusal(issue, version) !== null) return 'refused';
  if (kind !== 'approve' && text === '') return 'refused';
  const actor = { ...person, reason: kind === 'edit' ? null : text || null, at };
  const answer = kind === 'edit' ? ({ kind: 'approve', version, text } as const) : ({ kind, version } as const);
  await applyPlanAnswer(unit, await loadIssueContext(unit, issue), answer, actor);
  return 'applied';
}

/** The latest version, unless it is newer than the comment: its author has not read it. Host times have seconds. */
async function versionAt(unit: TransactionContext, issue: IssueRow, at: string): Promise<number | null> {
  const key = { tenantId: unit.tenantId, issueId: issue.id };
  const createdAt = await planCreatedAt(unit.tx, key, issue.plan_version);
  if (createdAt === undefined) return null;
  return Math.floor(Date.parse(createdAt) / 1_000) * 1_000 > Date.parse(at) ? null : issue.plan_version;
}
