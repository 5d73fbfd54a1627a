import { insertIssue, lockIssueByNumber, type NewIssue } from '@pipeline/store';
import type { Unit } from '../context/context.ts';
import { ENGINE, type Subject, subjectOf } from '../context/issue-context.ts';
import { decideFor } from './decision.ts';
import { moveBy, moveThrough } from './move.ts';
import { asking, type HostWord, takeText } from './text-dependencies.ts';

/**
 * Brings an issue of the host into the pipeline and sends it on its way at once: `new` is a moment, not a queue.
 * @param asked what the host says of issues that its text names.
 * @returns false when the pipeline knew the issue already; then nothing was changed.
 */
export async function admitNew(unit: Unit, repoId: number, issue: NewIssue, asked?: HostWord): Promise<boolean> {
  if (!(await insertIssue(unit.tx, unit.tenantId, repoId, issue))) return false;
  unit.records.entries.push({ repoId });
  const row = await lockIssueByNumber(unit.tx, unit.tenantId, repoId, issue.number);
  if (row) await admit(unit, await subjectOf(unit, row), asked);
  return true;
}

/**
 * `new` -> its first state of work. An issue whose text names others that are not done passes through that state and
 * waits in dependency-blocked; one that would wait in a circle asks a person.
 */
export async function admit(unit: Unit, subject: Subject, asked?: HostWord): Promise<void> {
  const { open, question } = await takeText(unit, subject, asked);
  const move = { cause: { trigger: 'admitted' as const }, actor: ENGINE };
  const decision = decideFor(subject, move.cause);
  if (question !== null && decision.kind === 'move') {
    await moveThrough(unit, subject, { decision, move }, asking(question));
    return;
  }
  await moveBy(unit, { ...subject, openDependencies: open }, move);
}
