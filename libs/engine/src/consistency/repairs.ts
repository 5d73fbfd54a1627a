import { type ConsistencyFinding, isBlockedState, type StoredConsistencyKind } from '@pipeline/domain';
import {
  completeSiIssue,
  type Detected,
  deleteEdges,
  detect,
  type IssueRow,
  lockIssueByNumber,
  resolveSubtaskEdges,
} from '@pipeline/store';
import { type Engine, inTenant, type TransactionContext } from '../context/context.ts';
import type { Actor } from '../context/issue-context.ts';
import { loadIssueContext } from '../context/load-issue.ts';
import { performAction } from '../issues/issue-actions.ts';
import { projectIssue } from '../outbox/project.ts';
import { findingOf } from './findings.ts';
import { recordRepair } from './repair-record.ts';
import { notFound, type Target, targetOf } from './target.ts';

export type StoreRepair = 'clear-flag' | 'resolve-subtask-edges' | 'link-si' | 'delete-orphan-edges';

interface RepairInput {
  target: Target;
  /** Locked; edges may outlive their issue. */
  issue: IssueRow | undefined;
  found: Detected;
  actor: Actor;
}

interface Repair {
  kind: StoredConsistencyKind;
  apply(unit: TransactionContext, input: RepairInput): Promise<void>;
}

const REPAIRS: Record<StoreRepair, Repair> = {
  'clear-flag': { kind: 'stale_blocked', apply: clearFlag },
  'resolve-subtask-edges': { kind: 'stale_subtask_edge', apply: resolveEdges },
  'link-si': { kind: 'si_linkage_gap', apply: linkSi },
  'delete-orphan-edges': { kind: 'orphan_dependency_edge', apply: deleteOrphans },
};

/**
 * Repairs one finding. Detection, repair and another detection run in one transaction under the lock of its issue: of
 * two concurrent repairs the second finds nothing, and a repeated one changes nothing.
 * @returns the finding after the repair, null when it is gone or did not exist.
 * @throws AppError CONSISTENCY_FINDING_NOT_FOUND, INVALID_ARGUMENT, as for `targetOf`; CONSISTENCY_FINDING_NOT_FOUND
 * also for an unknown issue, unless an edge may outlive it.
 */
export async function repairFinding(
  engine: Engine,
  repair: StoreRepair,
  id: string,
  actor: Actor,
): Promise<ConsistencyFinding | null> {
  const { kind, apply } = REPAIRS[repair];
  const target = await targetOf(engine, id, kind);
  return inTenant(engine, target.repo.tenant_id, async (unit) => {
    const issue = await lockIssueByNumber(unit.tx, unit.tenantId, target.repo.id, target.number);
    if (!issue && kind !== 'orphan_dependency_edge') throw notFound(id, 'the pipeline does not know the issue');
    const found = await detectOne(unit, target, kind);
    if (!found) return null;
    await apply(unit, { target, issue, found, actor });
    await unit.rows.write();
    const left = await detectOne(unit, target, kind);
    return left ? findingOf(kind, left, target.shared) : null;
  });
}

async function detectOne(
  unit: TransactionContext,
  { repo, number }: Target,
  kind: StoredConsistencyKind,
): Promise<Detected | undefined> {
  const scope = { tenantId: unit.tenantId, repoId: repo.id, issueNumber: number };
  return (await detect(unit.tx, kind, scope, 1))[0];
}

/** A block of the state itself is lifted by unblocking; a mere flag is cleared. */
async function clearFlag(unit: TransactionContext, { target, issue, actor }: RepairInput): Promise<void> {
  if (!issue) return;
  const subject = await loadIssueContext(unit, issue);
  if (isBlockedState(issue.state)) {
    await performAction(unit, subject, 'unblock', { ...actor, reason: actor.reason ?? `clear-flag of ${target.id}` });
    unit.notify('svc_cache');
    return;
  }
  const change = { is_blocked: false, block_reason: null, block_classification: null };
  unit.rows.setIssue(issue.id, change);
  recordRepair(unit, { target, issue }, actor, { action: 'clear-flag' });
  await projectIssue(unit, { ...subject, issue: { ...issue, ...change } });
}

async function resolveEdges(unit: TransactionContext, { target, issue, actor }: RepairInput): Promise<void> {
  const epic = { repoId: target.repo.id, number: target.number };
  const edgeIds = await resolveSubtaskEdges(unit.tx, unit.tenantId, epic, 'operator');
  recordRepair(unit, { target, issue }, actor, { action: 'resolve-subtask-edges', edgeIds });
}

async function linkSi(unit: TransactionContext, { target, issue, actor }: RepairInput): Promise<void> {
  await completeSiIssue(unit.tx, unit.tenantId, { repoId: target.repo.id, number: target.number });
  recordRepair(unit, { target, issue }, actor, { action: 'link-si' });
}

/** The dependency is gone: the status comment shows it now, and the release loop handles it next. */
async function deleteOrphans(unit: TransactionContext, { target, issue, found, actor }: RepairInput): Promise<void> {
  const edgeIds = await deleteEdges(unit.tx, unit.tenantId, found.detail.orphanEdgeIds as number[]);
  // An issue without a record cannot be locked: another repair may have been faster.
  if (edgeIds.length === 0) return;
  recordRepair(unit, { target, issue }, actor, { action: 'delete-orphan-edges', edgeIds });
  if (issue) await projectIssue(unit, await loadIssueContext(unit, issue));
}
