import { AppError, type FindingMove, isUnsettled, moveFinding as statusAfter } from '@pipeline/domain';
import {
  findIssue,
  findingById,
  issueById,
  type ListedFinding,
  locateFinding,
  lockFinding,
  lockIssue,
  repoById,
  resolveFindingsOf,
  setFindingStatus,
} from '@pipeline/store';
import { type Engine, inTenant, type TransactionContext } from '../context/context.ts';
import type { Actor, IssueContext } from '../context/issue-context.ts';
import {
  type EventSubject,
  recordIssueEvent,
  recordIssueOperation,
  recordOperation,
  recordPipelineEvent,
} from '../records/records.ts';

interface FindingMoveRequest {
  id: string;
  move: FindingMove;
  /** Number of the issue of the same repo that settles it. */
  issueNumber?: number | undefined;
}

type Locked = NonNullable<Awaited<ReturnType<typeof lockFinding>>>;

/**
 * Applies an operator's decision about a finding. A closed one no longer prevents the merge of its issue.
 * @returns the finding after the change.
 * @throws AppError NOT_FOUND, INVALID_TRANSITION for a status that does not allow the action, ISSUE_NOT_FOUND, and
 * INVALID_INPUT if the settling issue is done already.
 */
export async function decideOnFinding(
  engine: Engine,
  request: FindingMoveRequest,
  actor: Actor,
): Promise<ListedFinding> {
  const { id } = request;
  const place = await locateFinding(engine.store.db, id);
  if (!place) throw notFound(id);
  return inTenant(engine, place.tenant_id, async (unit) => {
    const issue = place.issue_id === null ? undefined : await lockIssue(unit.tx, unit.tenantId, place.issue_id);
    const finding = await lockFinding(unit.tx, unit.tenantId, id);
    if (!finding) throw notFound(id);
    const to = await change(unit, finding, request, actor);
    const subject = { issue: issue ?? { repo_id: finding.repo_id, issue_number: null, id: null } };
    const operation = { action: `finding-${request.move}`, findingId: id };
    if (issue) {
      const repo = await repoById(unit.tx, unit.tenantId, issue.repo_id);
      recordIssueOperation(unit, { issue, repo }, actor, operation);
    } else recordOperation(unit, subject, actor, operation);
    recordClosing(unit, subject, { id, from: finding.status, to, by: actor.id ?? actor.type });
    if (issue) {
      const details = { findingId: id, from: finding.status, to };
      recordIssueEvent(unit, { issue }, { status: `finding ${to}`, details, actor });
    }
    return (await findingById(unit.tx, unit.tenantId, id)) as ListedFinding;
  });
}

async function change(
  unit: TransactionContext,
  finding: Locked,
  { id, move, issueNumber }: FindingMoveRequest,
  actor: Actor,
): Promise<Locked['status']> {
  const status = statusAfter(finding.status, move);
  const settledBy = issueNumber === undefined ? null : await settlingIssue(unit, finding, { move, issueNumber });
  await setFindingStatus(unit.tx, unit.tenantId, id, {
    status,
    resolvedByIssueId: status === 'open' ? null : (settledBy ?? finding.resolved_by_issue_id),
    dismissedReason: status === 'dismissed' ? (actor.reason ?? null) : null,
  });
  return status;
}

async function settlingIssue(
  unit: TransactionContext,
  finding: Locked,
  { move, issueNumber }: { move: FindingMove; issueNumber: number },
): Promise<number> {
  const issue = await findIssue(unit.tx, unit.tenantId, finding.repo_id, issueNumber);
  if (!issue) throw new AppError('ISSUE_NOT_FOUND', `Issue not found in the repo of the finding: #${issueNumber}`);
  if (move === 'accept' && issue.state === 'done') {
    throw new AppError('INVALID_INPUT', `#${issueNumber} is already done: resolve the finding instead`);
  }
  return issue.id;
}

/** `finding_closed` when it becomes settled, `finding_opened` when it becomes unsettled. */
function recordClosing(
  unit: TransactionContext,
  subject: EventSubject,
  { id, from, to, by }: { id: string; from: Locked['status']; to: Locked['status']; by: string },
): void {
  if (isUnsettled(from) === isUnsettled(to)) return;
  const eventType = isUnsettled(to) ? 'finding_opened' : 'finding_closed';
  recordPipelineEvent(unit, subject, { eventType, agent: by, payload: { findingId: id, status: to } });
}

const notFound = (id: string): AppError => new AppError('NOT_FOUND', `Finding not found: ${id}`);

/** Resolves the findings that a done issue was to settle. */
export async function settleFindings(
  unit: TransactionContext,
  { issue, ending }: Pick<IssueContext, 'issue' | 'ending'>,
): Promise<void> {
  if (!ending.resolvesFindings) return;
  for (const finding of await resolveFindingsOf(unit.tx, unit.tenantId, issue.id)) {
    const own = finding.issue_id === null ? undefined : await issueById(unit.tx, unit.tenantId, finding.issue_id);
    const subject: EventSubject = { issue: own ?? { repo_id: finding.repo_id, issue_number: null, id: null } };
    recordClosing(unit, subject, { id: finding.id, from: 'accepted', to: 'resolved', by: 'workflow-engine' });
  }
}
