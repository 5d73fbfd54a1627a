import type { ExecuteResult, ProjectionAction } from '@pipeline/domain';
import {
  linkSiIssue,
  lockIssueByNumber,
  lockSiIssue,
  type ProjectionRow,
  setSiIssueWanted,
  settleSiIssue,
  storeNow,
} from '@pipeline/store';
import type { TransactionContext } from '../context/context.ts';
import { admitNew } from '../workflow/admit.ts';

type Created = Extract<ExecuteResult, { status: 'ok' }>['created'];
type CreateIssue = Extract<ProjectionAction, { type: 'createIssue' }>;

/** Returns whether an outbox entry creates an issue of a track: such an entry belongs to no issue. */
export const isSeed = ({ issue_id, action }: ProjectionRow): boolean =>
  issue_id === null && action.type === 'createIssue';

/**
 * The host has created an issue of a track. Admits it like any other, without a label for intake, and links it to its
 * track. It may have been admitted before, and may even be done.
 */
export async function onSeeded(
  unit: TransactionContext,
  projection: ProjectionRow,
  action: CreateIssue,
  created: Created,
): Promise<void> {
  if (created?.number === undefined) throw new Error('the host created an issue without a number');
  const { repo_id: repoId } = projection;
  const { number } = created;
  const at = created.at ?? (await storeNow(unit.tx));
  await admitNew(unit, repoId, {
    number,
    title: action.title,
    body: action.body,
    url: created.url ?? '',
    labels: action.labels,
    author: null,
    createdAt: at,
    updatedAt: at,
  });
  const issue = await lockIssueByNumber(unit.tx, unit.tenantId, repoId, number);
  if (!(await lockSiIssue(unit.tx, unit.tenantId, projection.idempotency_key))) return;
  await linkSiIssue(unit.tx, unit.tenantId, projection.idempotency_key, number);
  if (issue?.state === 'done') await settleSiIssue(unit.tx, unit.tenantId, { repoId, number }, true);
  unit.notify('svc_cache');
}

/** A discarded entry releases its slot; a retried one occupies it again. */
export async function onSeedSteered(
  unit: TransactionContext,
  projection: ProjectionRow,
  to: 'retry' | 'discard',
): Promise<void> {
  if (isSeed(projection)) await setSiIssueWanted(unit.tx, unit.tenantId, projection.idempotency_key, to === 'retry');
}
