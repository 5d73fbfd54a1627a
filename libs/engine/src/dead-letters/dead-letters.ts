import { AppError, type State } from '@pipeline/domain';
import {
  findProjection,
  locateDeadLetter,
  lockDeadLetter,
  lockIssue,
  renewDeadLetterError,
  resolveDeadLetter,
  retryProjection,
} from '@pipeline/store';
import { type Engine, inTenant, type TransactionContext } from '../context/context.ts';
import type { Actor, IssueContext } from '../context/issue-context.ts';
import { loadIssueContext } from '../context/load-issue.ts';
import { projectIssue } from '../outbox/project.ts';
import { recordIssueOperation } from '../records/records.ts';
import { decideFor } from '../workflow/decision.ts';
import { advance } from '../workflow/move.ts';

type DeadLetter = NonNullable<Awaited<ReturnType<typeof lockDeadLetter>>>;

/**
 * Retries the failed transition of a dead letter by the same code that refused it. On success the dead letter is
 * resolved; refused again, it gets the newest reason. Of two concurrent retries the second finds it resolved.
 * @returns the current state of the issue, undefined when the transition was refused again.
 * @throws AppError DEAD_LETTER_NOT_FOUND for an unknown or resolved dead letter.
 */
export async function retryDeadLetter(engine: Engine, id: string, actor: Actor): Promise<State | undefined> {
  const place = await locateDeadLetter(engine.store.db, id);
  if (!place) throw notFound(id);
  return inTenant(engine, place.tenant_id, async (unit) => {
    const issue = await lockIssue(unit.tx, unit.tenantId, place.issue_id);
    const deadLetter = await lockDeadLetter(unit.tx, unit.tenantId, id);
    if (!issue || !deadLetter || deadLetter.resolved_at !== null) throw notFound(id);
    const subject = await loadIssueContext(unit, issue);
    const refusal = await attempt(unit, subject, deadLetter, actor);
    if (refusal !== null) {
      await renewDeadLetterError(unit.tx, unit.tenantId, id, refusal);
      recordIssueOperation(unit, subject, actor, { action: 'dead-letter-retry', deadLetterId: id, refused: refusal });
      return undefined;
    }
    await resolveDeadLetter(unit.tx, unit.tenantId, id, { actor: actor.id ?? actor.type, resolution: 'retried' });
    await unit.rows.write();
    const after = (await lockIssue(unit.tx, unit.tenantId, issue.id)) ?? issue;
    const done = { action: 'dead-letter-retry', deadLetterId: id };
    recordIssueOperation(unit, { ...subject, issue: after }, actor, done);
    unit.notify('svc_cache');
    return after.state as State;
  });
}

/** @returns why the transition cannot be made, or null when it was made. */
async function attempt(
  unit: TransactionContext,
  subject: IssueContext,
  deadLetter: DeadLetter,
  actor: Actor,
): Promise<string | null> {
  if (deadLetter.cause.kind === 'projection') {
    const projection = await findProjection(unit.tx, unit.tenantId, deadLetter.cause.projectionId);
    if (!projection) return 'the host operation is not on record any more';
    await retryProjection(unit.tx, projection);
    unit.notify('svc_projections');
    return null;
  }
  const decision = decideFor(subject, deadLetter.cause.cause);
  if (decision.kind === 'refused') return decision.reason;
  await advance(unit, subject, decision, { actor: actor });
  return null;
}

/**
 * Resolves a dead letter without a retry. An unknown or resolved one is no error.
 * @returns whether this call resolved it.
 */
export async function closeDeadLetter(engine: Engine, id: string, actor: Actor): Promise<boolean> {
  const place = await locateDeadLetter(engine.store.db, id);
  if (!place) return false;
  return inTenant(engine, place.tenant_id, async (unit) => {
    const issue = await lockIssue(unit.tx, unit.tenantId, place.issue_id);
    const resolved = await resolveDeadLetter(unit.tx, unit.tenantId, id, {
      actor: actor.id ?? actor.type,
      resolution: 'resolved',
    });
    if (!issue || !resolved) return resolved;
    const subject = await loadIssueContext(unit, issue);
    recordIssueOperation(unit, subject, actor, { action: 'dead-letter-resolve', deadLetterId: id });
    unit.notify('svc_cache');
    await projectIssue(unit, subject);
    return true;
  });
}

const notFound = (id: string): AppError => new AppError('DEAD_LETTER_NOT_FOUND', `Dead letter not found: ${id}`);
