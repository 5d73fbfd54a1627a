import { mayDepend, type State } from '@pipeline/domain';
import { lockWorkTask } from '@pipeline/store';
import type { TransactionContext } from '../context/context.ts';
import { ENGINE, type IssueContext } from '../context/issue-context.ts';
import { askPerson, type Move, moveBy } from './move.ts';
import { editTextDependencies, type HostStates } from './text-dependencies.ts';

/**
 * Applies an edit of the text. Removed dependencies are resolved; the release loop moves the issue. Added ones hold the
 * issue immediately if no worker is working on it, else from the next decision on: a running task is never withdrawn
 * for them. A cycle becomes a question to a person where possible, and is not waited for.
 * @param before the text that the issue had.
 * @param hostStates the host state of newly named issues without a record.
 * @returns the issue context after the edit.
 */
export async function applyTextEdit(
  unit: TransactionContext,
  subject: IssueContext,
  before: string,
  hostStates?: HostStates,
): Promise<IssueContext> {
  const { issue, workflow } = subject;
  const wait = await editTextDependencies(unit, subject, before, hostStates);
  if (wait === null || !mayDepend(workflow, issue.state as State)) return subject;
  const { open, question } = wait;
  const task = await lockWorkTask(unit.tx, unit.tenantId, issue.id);
  if (task?.status === 'claimed' || (question === null && open === 0)) return subject;
  const next: Move = question === null ? { cause: { trigger: 'depends' }, actor: ENGINE } : askPerson(question);
  return (await moveBy(unit, subject, next)).subject;
}
