import {
  cappedText,
  compareStamps,
  type HostComment,
  type HostEvent,
  MAX_PLAN,
  type PlanCommand,
  parsePlanCommand,
  type State,
} from '@pipeline/domain';
import {
  CLOCKS_DIFFER_MS,
  findIssue,
  findPullRequest,
  type IssueRow,
  insertRemarks,
  issueById,
  lockIssue,
  takeRemark,
} from '@pipeline/store';
import { inTenant, type TransactionContext } from '../context/context.ts';
import type { Actor } from '../context/issue-context.ts';
import { loadIssueContext } from '../context/load-issue.ts';
import { COMMAND_COLUMN, type IssueAction, performAction } from '../issues/issue-actions.ts';
import { applyPlanCommand } from '../issues/plan-answers.ts';
import type { Intake } from '../repos/repo-address.ts';
import { moveBy } from '../workflow/move.ts';
import { factsOf } from './host-facts.ts';
import { isMachine, mayActAsPerson } from './person.ts';

type CommentEvent = Extract<HostEvent, { kind: 'comment' }>;

const COMMANDS: Record<string, IssueAction> = {
  pause: 'pause',
  resume: 'resume',
  retry: 'retry',
  unblock: 'unblock',
  cancel: 'cancel',
  reimplement: 'reimplement',
};

const COMMAND = /^\s*\/svc:([a-z-]+)[^\S\n]*(.*)/;

/** Number of characters of a comment in which a command and its reason are searched. */
const MAX_COMMAND = 5_000;

/**
 * Handles a comment: a command (`/svc:retry because …`, `/approve-plan`) of a person with write permission, or the
 * answer to the question an issue waits with, which its author may give too. Each comment is handled once, however often it is
 * delivered. A comment of another account gets no reaction: each would be a write that a stranger causes.
 */
export async function applyCommentEvent(intake: Intake, event: CommentEvent): Promise<void> {
  const issue = await issueOf(intake, event);
  if (!issue) return;
  const plan = parsePlanCommand(event.comment.body, MAX_PLAN + MAX_COMMAND);
  const command = plan ? null : COMMAND.exec(cappedText(event.comment.body, MAX_COMMAND));
  if (!plan && !command && issue.state !== 'needs-clarification') return;
  const allowed = await mayAct(intake, issue, event, {
    isCommand: plan !== null || command !== null,
    isPlan: plan !== null,
  });
  const done = await inTenant(intake.engine, issue.tenant_id, (unit) =>
    applyComment(unit, issue.id, { event, plan, command, allowed }),
  );
  if (done === 'ignored' || !allowed) return;
  await intake.host.react(event.repo, event.comment.id, done === 'applied' ? '+1' : 'confused');
}

type Known = NonNullable<Awaited<ReturnType<typeof issueOf>>>;

async function issueOf({ engine, repo }: Intake, event: CommentEvent) {
  const db = engine.store.db;
  if (!event.onPullRequest) return findIssue(db, repo.tenant_id, repo.id, event.issueNumber);
  const pr = await findPullRequest(db, repo.tenant_id, repo.id, event.issueNumber);
  // Otherwise its author could answer, as the author of the issue may, the question of another issue.
  return !pr?.agent_authored || pr.issue_id === null ? undefined : issueById(db, repo.tenant_id, pr.issue_id);
}

async function mayAct(
  intake: Intake,
  issue: Known,
  { comment: { author }, issueAuthor }: CommentEvent,
  { isCommand, isPlan }: { isCommand: boolean; isPlan: boolean },
): Promise<boolean> {
  if (author !== null && author === issueAuthor && !isCommand) return !(await isMachine(intake, author));
  return mayActAsPerson(intake, author, { issue, now: isPlan });
}

/** Comments before the question do not answer it. A poll may deliver old comments. */
const mayAnswer = (issue: IssueRow, comment: HostComment): boolean =>
  Date.parse(comment.createdAt) + CLOCKS_DIFFER_MS > Date.parse(issue.state_entered_at);

/** A command older than a newer one, or than the last restart of the issue, has no effect. */
async function isOutdated(
  unit: TransactionContext,
  issue: IssueRow,
  column: 'pause_at' | 'command_at',
  comment: HostComment,
): Promise<boolean> {
  const facts = await factsOf(unit, issue);
  return compareStamps(comment.createdAt, facts[column]) < 0;
}

interface CommentInput {
  event: CommentEvent;
  plan: PlanCommand | null;
  command: RegExpExecArray | null;
  allowed: boolean;
}

async function applyComment(
  unit: TransactionContext,
  issueId: number,
  said: CommentInput,
): Promise<'applied' | 'refused' | 'ignored'> {
  const { comment } = said.event;
  const issue = await lockIssue(unit.tx, unit.tenantId, issueId);
  if (!issue) return 'ignored';
  const first = await takeRemark(unit.tx, unit.tenantId, issue.repo_id, { kind: 'comment', hostId: comment.id });
  if (!first) return 'ignored';
  const actor: Actor = { type: 'operator', id: comment.author, agent: null, reason: said.command?.[2]?.trim() || null };
  if (said.plan) {
    if (!said.allowed || (await isOutdated(unit, issue, 'command_at', comment))) return 'refused';
    return applyPlanCommand(unit, issue, said.plan, { ...actor, at: comment.createdAt });
  }
  if (said.command) {
    const action = COMMANDS[said.command[1] ?? ''];
    if (!action || !said.allowed || (await isOutdated(unit, issue, COMMAND_COLUMN[action], comment))) return 'refused';
    await performAction(unit, await loadIssueContext(unit, issue), action, { ...actor, at: comment.createdAt });
    return 'applied';
  }
  if (!said.allowed || (issue.state as State) !== 'needs-clarification' || !mayAnswer(issue, comment)) return 'ignored';
  const answer = { kind: 'answer' as const, author: comment.author ?? 'unknown', body: comment.body };
  await insertRemarks(unit.tx, unit.tenantId, issue.id, [answer]);
  await moveBy(unit, await loadIssueContext(unit, issue), { cause: { trigger: 'clarified' }, actor: actor });
  return 'applied';
}
