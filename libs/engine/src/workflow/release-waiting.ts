import type { Trigger } from '@pipeline/domain';
import {
  activeDependencies,
  finishedEpics,
  hasOpenDeadLetter,
  lockIssue,
  releasableIssues,
  resolveEdgesToEnded,
  resolveEndedSubtasks,
  subtasksOf,
} from '@pipeline/store';
import { type Engine, inTenant } from '../context/context.ts';
import { countHandled } from '../context/handle-each.ts';
import { ENGINE, type IssueContext } from '../context/issue-context.ts';
import { loadIssueContext } from '../context/load-issue.ts';
import { moveBy } from './move.ts';

const BATCH = 500;

/**
 * Moves waiting issues whose dependencies are done or whose subtasks have all ended. The end of an issue only resolves
 * its edges; the waiting issues move here, each in its own transaction, so that no transaction ever locks two issues.
 * @returns how many moved.
 */
export async function releaseWaiting(engine: Engine): Promise<number> {
  const { db } = engine.store;
  const waiting = [
    ...(await releasableIssues(db, BATCH)).map((issue) => ({ ...issue, state: 'dependency-blocked' as const })),
    ...(await finishedEpics(db, BATCH)).map((issue) => ({ ...issue, state: 'waiting-for-subtasks' as const })),
  ];
  return countHandled('waiting issues', waiting, ({ tenant_id, id, state }) => release(engine, tenant_id, id, state));
}

type Waiting = 'dependency-blocked' | 'waiting-for-subtasks';

function release(engine: Engine, tenantId: number, issueId: number, state: Waiting): Promise<boolean> {
  return inTenant(engine, tenantId, async (unit) => {
    const issue = await lockIssue(unit.tx, tenantId, issueId);
    if (issue?.state !== state) return false;
    const subject = await loadIssueContext(unit, issue);
    const trigger = await triggerOf(unit.tx, subject);
    // A workflow without the edge: the first try has written a dead letter, more of them would not help.
    if (!trigger || (await hasOpenDeadLetter(unit.tx, tenantId, issueId))) return false;
    const { deadLetterId } = await moveBy(unit, subject, { cause: { trigger }, actor: ENGINE });
    return deadLetterId === undefined;
  });
}

async function triggerOf(tx: Parameters<typeof lockIssue>[0], { issue }: IssueContext): Promise<Trigger | null> {
  const self = { repoId: issue.repo_id, number: issue.issue_number };
  if (issue.state === 'dependency-blocked') {
    await resolveEdgesToEnded(tx, issue.tenant_id, self);
    const open = await activeDependencies(tx, issue.tenant_id, self);
    return open.length === 0 ? 'dependencies-done' : null;
  }
  await resolveEndedSubtasks(tx, issue.tenant_id, self);
  const subtasks = await subtasksOf(tx, issue.tenant_id, self);
  if (subtasks.some((edge) => edge.active)) return null;
  const allMerged = subtasks.length > 0 && subtasks.every((edge) => edge.resolved_by === 'merged');
  return allMerged ? 'subtasks-done' : 'subtasks-cancelled';
}
