import {
  AppError,
  MAX_PLAN,
  type PageRequest,
  type Paginated,
  type PlanCommand,
  pageOf,
  type State,
} from '@pipeline/domain';
import {
  answerPlan,
  commandedAt,
  type IssueRow,
  insertPlan,
  insertRemarks,
  type PlanVersion,
  planCreatedAt,
  plansOfIssue,
} from '@pipeline/store';
import { type Engine, inTenant, type TransactionContext } from '../context/context.ts';
import type { Actor, IssueContext, IssueKey, OnIssue } from '../context/issue-context.ts';
import { openIssue } from '../context/load-issue.ts';
import { recordIssueEvent, recordOperation } from '../records/records.ts';
import { moveBy } from '../workflow/move.ts';
import { findIssueKey, type IssueAddress } from './issue-address.ts';

/** A person's answer to one version of a plan; `reject` needs the reason of its actor. */
export interface PlanAnswer {
  kind: 'approve' | 'reject';
  version: number;
  /** The text that replaces the plan before its approval. */
  text?: string | undefined;
  /** The files of the edited plan; without them, those of the edited version stay. */
  plannedFiles?: string[] | undefined;
}

interface Answered {
  /** The answered version; for an edited plan, the new one. */
  version: number;
  state: State;
}

/** The plans of an issue that needed an approval, newest first. @throws AppError NOT_FOUND, ISSUE_NOT_FOUND. */
export async function listPlans(
  engine: Engine,
  address: IssueAddress,
  { limit, offset }: PageRequest,
): Promise<Paginated<PlanVersion>> {
  const key = await findIssueKey(engine, address);
  return pageOf(await plansOfIssue(engine.store.reads, key, { limit: limit + 1, offset }), { limit, offset });
}

/**
 * Approves or rejects the plan that an issue waits with, in one transaction. Of concurrent answers, the first counts.
 * @throws AppError ISSUE_NOT_FOUND; INVALID_TRANSITION when this version does not wait for an answer.
 */
export function answerPlanOf(engine: Engine, key: IssueKey, answer: PlanAnswer, actor: Actor): Promise<Answered> {
  return inTenant(engine, key.tenantId, async (unit) => {
    const open = await openIssue(unit, key.issueId);
    if (!open) throw new AppError('ISSUE_NOT_FOUND', 'Issue not found');
    const refusal = planRefusal(open.subject.issue, answer.version);
    if (refusal !== null) throw new AppError('INVALID_TRANSITION', refusal);
    return applyPlanAnswer(unit, open, answer, actor);
  });
}

/** Why a version cannot be answered, for its reader; null when it waits for an answer. */
function planRefusal({ state, plan_status: status, plan_version: latest }: IssueRow, version: number) {
  if (status === null || version > latest) return `No version ${version} of the plan waits for an approval`;
  if (version < latest) return `Version ${version} of the plan is outdated: version ${latest} is ${status}`;
  if (status !== 'pending') return `Version ${version} of the plan was already ${status}`;
  return state === 'human-review-ready' ? null : `The issue is in ${state}: unblock it, then answer version ${version}`;
}

/**
 * The same inside a transaction that has opened the issue and checked the version.
 * @param at host time of the answer; undefined = now.
 */
async function applyPlanAnswer(
  unit: TransactionContext,
  { subject, work }: OnIssue,
  answer: PlanAnswer,
  { at, ...actor }: Actor & { at?: string },
): Promise<Answered> {
  const { kind } = answer;
  await commandedAt(unit.tx, subject.issue, 'command_at', at ?? null);
  const answered = answer.text === undefined ? subject : await saveEdit(unit, subject, answer, actor);
  const version = answered.issue.plan_version;
  if (kind === 'reject') await saveRejection(unit, answered.issue, actor);
  const edits = version === answer.version ? {} : { editsVersion: answer.version };
  recordOperation(unit, answered, actor, { action: `plan-${kind}`, version, ...edits });
  const verb = kind === 'approve' ? 'approved' : 'rejected';
  recordIssueEvent(unit, answered, { status: `version ${version} of the plan ${verb}`, details: edits, actor });
  const trigger = kind === 'approve' ? 'plan-approved' : 'plan-rejected';
  const moved = await moveBy(unit, answered, { cause: { trigger }, actor, work });
  return { version, state: moved.subject.issue.state as State };
}

/** The edited text becomes a version of its own, so that the text of the agent stays as it was. */
async function saveEdit(
  unit: TransactionContext,
  subject: IssueContext,
  { text = '', plannedFiles }: PlanAnswer,
  actor: Actor,
): Promise<IssueContext> {
  const { issue } = subject;
  const key = { tenantId: unit.tenantId, issueId: issue.id };
  const author = actor.id ?? actor.type;
  const version = issue.plan_version + 1;
  const change = { plan: text, planned_files: plannedFiles ?? issue.planned_files, plan_version: version };
  await answerPlan(unit.tx, key, { status: 'withdrawn', by: author, reason: `edited as version ${version}` });
  const origin = { version, editsVersion: issue.plan_version, authorType: 'operator' as const, author };
  await insertPlan(unit.tx, key, { ...origin, body: text, plannedFiles: change.planned_files });
  unit.rows.setIssue(issue.id, change);
  return { ...subject, issue: { ...issue, ...change } };
}

const saveRejection = (unit: TransactionContext, issue: IssueRow, actor: Actor): Promise<void> =>
  insertRemarks(unit.tx, unit.tenantId, issue.id, [
    { kind: 'plan-rejection', author: actor.id ?? actor.type, body: actor.reason ?? '' },
  ]);

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
  const open = await openIssue(unit, issue.id);
  if (!open) return 'refused';
  await applyPlanAnswer(unit, open, answer, actor);
  return 'applied';
}

/** The latest version, unless it is newer than the comment: its author has not read it. Host times have seconds. */
async function versionAt(unit: TransactionContext, issue: IssueRow, at: string): Promise<number | null> {
  const key = { tenantId: unit.tenantId, issueId: issue.id };
  const createdAt = await planCreatedAt(unit.tx, key, issue.plan_version);
  if (createdAt === undefined) return null;
  return Math.floor(Date.parse(createdAt) / 1_000) * 1_000 > Date.parse(at) ? null : issue.plan_version;
}
