import { AppError } from '@pipeline/domain';
import { lockIssue, saveHostFacts } from '@pipeline/store';
import { type Engine, inTenant } from '../context/context.ts';
import type { Actor, IssueKey } from '../context/issue-context.ts';
import { loadIssueContext } from '../context/load-issue.ts';
import { projectIssue } from '../outbox/project.ts';
import { recordIssueOperation } from '../records/records.ts';
import { applyTextEdit } from '../workflow/text-edit.ts';
import { factsOf } from './host-facts.ts';
import { acceptText, recordText, shownChange } from './text-changes.ts';

/**
 * Accepts, for an operator, the text that a person without write permission gave an issue: agents get it from now on,
 * and it is parsed for dependencies. Newly named issues without a record count as open until the parent watch has read
 * them.
 * @param sha256 of the text that the operator has read; null = the stored change, whatever it is.
 * @returns false when there is no such change.
 * @throws AppError ISSUE_NOT_FOUND.
 */
export function acceptIssueText(
  engine: Engine,
  { tenantId, issueId }: IssueKey,
  { sha256 }: { sha256: string | null },
  actor: Actor,
): Promise<boolean> {
  return inTenant(engine, tenantId, async (unit) => {
    const issue = await lockIssue(unit.tx, tenantId, issueId);
    if (!issue) throw new AppError('ISSUE_NOT_FOUND', 'Issue not found');
    const subject = await loadIssueContext(unit, issue);
    const facts = await factsOf(unit, issue);
    recordIssueOperation(unit, subject, actor, { action: 'accept-text', sha256: facts.changed_sha256 });
    const { changed_title: title, changed_body: body, changed_at: at } = facts;
    if (title === null || body === null || at === null) return false;
    if (sha256 !== null && sha256 !== facts.changed_sha256) return false;
    const after = acceptText(facts, { title, body }, { at, by: actor.id });
    await saveHostFacts(unit.tx, after, false);
    const news = { title, body, ...shownChange(after) };
    unit.rows.setIssue(issueId, news);
    const renewed = { ...subject, issue: { ...issue, ...news } };
    recordText(unit, renewed, facts, after);
    const followed = issue.state === 'done' ? renewed : await applyTextEdit(unit, renewed, issue.body);
    await projectIssue(unit, followed);
    return true;
  });
}
