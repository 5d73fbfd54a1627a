import { insertIssue, type NewIssue } from '@pipeline/store';
import type { TransactionContext } from '../context/context.ts';
import { ENGINE, type IssueContext } from '../context/issue-context.ts';
import { lockIssueContext } from '../context/load-issue.ts';
import { decideFor } from './decision.ts';
import { askPerson, moveBy, moveThrough } from './move.ts';
import { addTextDependencies, type HostStates } from './text-dependencies.ts';

/**
 * Admits an issue of the host and moves it on immediately: no issue stays in `new`.
 * @param hostStates the host state of issues that its text names.
 * @returns false when the issue had been admitted before; nothing was changed then.
 */
export async function admitNew(
  unit: TransactionContext,
  repoId: number,
  issue: NewIssue,
  hostStates?: HostStates,
): Promise<boolean> {
  if (!(await insertIssue(unit.tx, unit.tenantId, repoId, issue))) return false;
  const subject = await lockIssueContext(unit, { repoId, number: issue.number });
  if (subject) await admit(unit, subject, hostStates);
  return true;
}

/**
 * `new` -> its first state with a task. An issue whose text names unfinished ones passes that state and waits in
 * dependency-blocked; one in a dependency cycle goes to needs-clarification.
 */
export async function admit(unit: TransactionContext, subject: IssueContext, hostStates?: HostStates): Promise<void> {
  const { open, question } = await addTextDependencies(unit, subject, hostStates);
  const move = { cause: { trigger: 'admitted' as const }, actor: ENGINE };
  const decision = decideFor(subject, move.cause);
  if (question !== null && decision.kind === 'move') {
    await moveThrough(unit, subject, { decision, move }, askPerson(question));
    return;
  }
  await moveBy(unit, { ...subject, openDependencies: open }, move);
}
