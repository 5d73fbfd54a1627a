import { insertIssue, lockIssueByNumber, type NewIssue } from '@pipeline/store';
import type { Unit } from './context.ts';
import { moveBy } from './move.ts';
import { ENGINE, type Subject, subjectOf } from './subject.ts';

/**
 * Brings an issue of the host into the pipeline and sends it on its way at once: `new` is a moment, not a queue.
 * @returns false when the pipeline knew the issue already; then nothing was changed.
 */
export async function admitNew(unit: Unit, repoId: number, issue: NewIssue): Promise<boolean> {
  if (!(await insertIssue(unit.tx, unit.tenantId, repoId, issue))) return false;
  const row = await lockIssueByNumber(unit.tx, unit.tenantId, repoId, issue.number);
  if (row) await admit(unit, await subjectOf(unit, row));
  return true;
}

/** `new` -> its first state of work. */
export async function admit(unit: Unit, subject: Subject): Promise<void> {
  await moveBy(unit, subject, { cause: { trigger: 'admitted' }, actor: ENGINE });
}
