import { compareStamps, type IssueText, sameText, textHash } from '@pipeline/domain';
import type { HostFactsRow } from '@pipeline/store';
import type { TransactionContext } from '../context/context.ts';
import type { Actor, IssueContext } from '../context/issue-context.ts';
import { recordIssueEvent } from '../records/records.ts';
import type { IssueEvent } from './host-facts.ts';

/** Parts of a text that may reach agents, and who accepted or changed it; null = unknown. */
export interface TextVerdict {
  title: boolean;
  body: boolean;
  acceptedBy: string | null;
  changedBy: string | null;
  /** True = the label for intake was added by an account that may not act as a person; only of a new issue. */
  isStrayLabel?: boolean;
}

/**
 * The effect of an event on the text of an issue: agents get the text `accepted`, people's changes are stored apart.
 */
interface TextOutcome {
  facts: HostFactsRow;
  /** Set when agents get another text from now on. */
  accepted: IssueText | null;
}

/**
 * Compares the host's text with the accepted one. A trusted text replaces it unless it is older; any other one is
 * stored as a change without effect. Within one second a trusted text is accepted, and a change is stored.
 */
export function readText(
  event: IssueEvent,
  { stored, facts }: { stored: IssueText; facts: HostFactsRow },
  verdict: TextVerdict | null,
): TextOutcome {
  const { title, body, updatedAt: at } = event.issue;
  const shown = { title, body };
  if (sameText(shown, stored))
    return { facts: isRevert(event, facts) ? { ...facts, ...UNCHANGED } : facts, accepted: null };
  const sinceText = compareStamps(at, facts.text_at);
  const trusted = { title: verdict?.title ? title : stored.title, body: verdict?.body ? body : stored.body };
  const accepted = sinceText >= 0 && !sameText(trusted, stored) ? trusted : null;
  const after = accepted ? acceptText(facts, accepted, { at, by: verdict?.acceptedBy ?? null }) : facts;
  const reportsText = event.action === 'edited' || event.action === 'seen';
  const isOld = sinceText < (reportsText ? 0 : 1) || isBefore(event, facts);
  if (isOld || sameText(shown, trusted)) return { facts: after, accepted };
  const change = changeOf(shown, trusted, facts, { at, by: verdict?.changedBy ?? null });
  return { facts: { ...after, ...change }, accepted };
}

/**
 * Returns whether the status comment is renewed at once: for an accepted text, and for the first change of one. Further edits
 * and reverts are shown with the next status: their author, who may be a stranger, would cause a write with each.
 */
export const isNews = ({ facts, accepted }: TextOutcome, before: HostFactsRow): boolean =>
  accepted !== null || (before.changed_at === null && facts.changed_at !== null);

/** The host shows the accepted text again, later than the change; a poll shows the current text. */
const isRevert = ({ action, issue }: IssueEvent, { changed_at }: HostFactsRow): boolean =>
  changed_at !== null && compareStamps(issue.updatedAt, changed_at) >= (action === 'seen' ? 0 : 1);

const isBefore = ({ issue }: IssueEvent, { changed_at }: HostFactsRow): boolean =>
  changed_at !== null && compareStamps(issue.updatedAt, changed_at) < 0;

/** The stored change: a known editor stays recorded while their part of the text is unchanged. */
function changeOf(
  shown: IssueText,
  trusted: IssueText,
  facts: HostFactsRow,
  { at, by }: { at: string; by: string | null },
) {
  const isKnown = (part: 'title' | 'body') => shown[part] === trusted[part] || shown[part] === facts[`changed_${part}`];
  return {
    changed_title: shown.title,
    changed_body: shown.body,
    changed_sha256: textHash(shown),
    changed_by: by ?? (isKnown('title') && isKnown('body') ? facts.changed_by : null),
    changed_at: at,
  };
}

const UNCHANGED = {
  changed_title: null,
  changed_body: null,
  changed_sha256: null,
  changed_by: null,
  changed_at: null,
} as const;

/** The row after a text was accepted: a change that is newer than the accepted text is still shown. */
export function acceptText(
  facts: HostFactsRow,
  text: IssueText,
  { at, by }: { at: string; by: string | null },
): HostFactsRow {
  const hash = textHash(text);
  const isCovered = facts.changed_sha256 === hash || compareStamps(facts.changed_at, at) < 0;
  const accepted = { text_sha256: hash, text_at: at, text_accepted_by: by };
  return { ...facts, ...accepted, ...(isCovered && UNCHANGED) };
}

/** Columns of the issue that show whether its text was changed. */
export const shownChange = ({ changed_at, changed_by }: HostFactsRow) => ({
  text_changed_at: changed_at,
  text_changed_by: changed_by,
});

/** Records in the timeline that the text was changed on the host, or that a change was accepted. */
export function recordText(
  unit: TransactionContext,
  subject: IssueContext,
  before: HostFactsRow,
  after: HostFactsRow,
): void {
  const actor = (id: string | null): Actor => ({ type: 'operator', id, agent: null });
  if (after.text_sha256 !== before.text_sha256) {
    const details = { sha256: after.text_sha256 };
    recordIssueEvent(unit, subject, { status: 'text accepted', details, actor: actor(after.text_accepted_by) });
  }
  if (after.changed_sha256 !== null && after.changed_sha256 !== before.changed_sha256) {
    const details = { sha256: after.changed_sha256 };
    recordIssueEvent(unit, subject, { status: 'text changed on the host', details, actor: actor(after.changed_by) });
  }
}
