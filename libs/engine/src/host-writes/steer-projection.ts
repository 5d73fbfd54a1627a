import { AppError } from '@pipeline/domain';
import {
  locateProjection,
  lockIssue,
  lockProjection,
  type ProjectionRow,
  repoById,
  retryProjection,
  updateProjection,
} from '@pipeline/store';
import { type Engine, inTenant, type TransactionContext } from '../context/context.ts';
import type { Actor, IssueContext } from '../context/issue-context.ts';
import { loadIssueContext } from '../context/load-issue.ts';
import { recordIssueOperation, recordOperation } from '../records/records.ts';
import { onSeedSteered } from '../tracks/seeds.ts';
import { deadLetterProjection, isAwaited } from './projection-dead-letters.ts';

/**
 * An operator's actions on an outbox entry: send it again from its first attempt on, or discard it so that its lane
 * continues. Either is possible from any status. An entry that was sent before is in doubt: the next attempt reads the
 * host before it writes, so a repeated retry creates nothing twice.
 * @throws AppError NOT_FOUND for an unknown entry.
 */
export async function steerProjection(
  engine: Engine,
  id: number,
  to: 'retry' | 'discard',
  actor: Actor,
): Promise<void> {
  const place = await locateProjection(engine.store.db, id);
  if (!place) throw new AppError('NOT_FOUND', `Projection not found: ${id}`);
  await inTenant(engine, place.tenant_id, async (unit) => {
    const issue = place.issue_id === null ? undefined : await lockIssue(unit.tx, unit.tenantId, place.issue_id);
    const projection = await lockProjection(unit.tx, unit.tenantId, id);
    if (!projection) throw new AppError('NOT_FOUND', `Projection not found: ${id}`);
    if (to === 'retry') await retryProjection(unit.tx, projection);
    else await discard(unit, projection, issue && (await loadIssueContext(unit, issue)));
    await onSeedSteered(unit, projection, to);
    unit.notify('svc_projections');
    const { repo_id, issue_number } = projection;
    const operation = { action: `projection-${to}`, projectionId: id };
    if (issue) {
      const repo = await repoById(unit.tx, unit.tenantId, repo_id);
      recordIssueOperation(unit, { issue, repo }, actor, operation);
    } else
      recordOperation(unit, { issue: { id: null, repo_id, issue_number: issue_number || null } }, actor, operation);
  });
}

/** An issue that waited for it gets a dead letter; a failed entry has created one when it failed. */
async function discard(
  unit: TransactionContext,
  projection: ProjectionRow,
  subject: IssueContext | undefined,
): Promise<void> {
  await updateProjection(unit.tx, unit.tenantId, projection.id, { status: 'discarded', retry_after: null });
  if (subject && projection.status === 'pending' && isAwaited(projection.action)) {
    await deadLetterProjection(unit, subject, projection, 'discarded by an operator');
  }
}
