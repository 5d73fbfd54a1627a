import { type IssueRow, insertPipelineEvent } from '@pipeline/store';
import type { Unit } from '../context.ts';
import { recordIssueEvent } from '../records.ts';
import type { Actor } from '../subject.ts';
import type { Target } from './target.ts';

/** Writes down that a person mended a finding, and what it took. The issue may have no record of its own. */
export async function recordRepair(
  unit: Unit,
  { target, issue }: { target: Target; issue: IssueRow | undefined },
  actor: Actor,
  { action, ...facts }: { action: string } & Record<string, unknown>,
): Promise<void> {
  if (issue) await recordIssueEvent(unit, { issue }, { status: `${action} by ${actor.type}`, details: facts, actor });
  await insertPipelineEvent(unit.tx, unit.tenantId, {
    repoId: target.repo.id,
    issueId: issue?.id ?? null,
    issueNumber: target.number,
    eventType: 'operator_action',
    agent: actor.id ?? actor.type,
    payload: { action, actorId: actor.id, reason: actor.reason ?? null, finding: target.id, ...facts },
  });
  unit.ring('svc_cache');
}
