import { compareStamps, ENQUEUE_LABEL, type HostEvent, humanAssignee, PAUSED_LABEL, textHash } from '@pipeline/domain';
import { CLOCKS_DIFFER_MS, type HostFactsRow, hostFactsOf, type IssueRow } from '@pipeline/store';
import type { TransactionContext } from '../context/context.ts';

export type IssueEvent = Extract<HostEvent, { kind: 'issue' }>;

type StoredIssue = Omit<IssueRow, 'now' | 'ms_in_state' | 'late_us'>;

/** The applied host facts of a locked issue. */
export async function factsOf(unit: TransactionContext, issue: StoredIssue): Promise<HostFactsRow> {
  return (await hostFactsOf(unit.tx, unit.tenantId, issue.id)) ?? firstFacts(issue);
}

/** Derives the first facts of an issue from its own row. */
export function firstFacts(issue: StoredIssue): HostFactsRow {
  const doneAt = new Date(Date.parse(issue.state_entered_at) + CLOCKS_DIFFER_MS).toISOString();
  return {
    tenant_id: issue.tenant_id,
    issue_id: issue.id,
    acted_at: issue.state === 'done' ? doneAt : null,
    acted_event_id: null,
    state_at: null,
    labels_at: null,
    label_times: {},
    pause_at: null,
    command_at: null,
    text_sha256: textHash(issue),
    text_at: issue.host_updated_at,
    text_accepted_by: null,
    changed_title: null,
    changed_body: null,
    changed_sha256: null,
    changed_by: null,
    changed_at: null,
    seen_at: null,
    assignee: null,
    assignee_at: null,
  };
}

/** The later of two times; null is before every time. */
export const latest = (one: string | null, other: string | null): string | null =>
  compareStamps(one, other) >= 0 ? one : other;

/** Returns when the host last changed a label, as far as that was applied. */
export function labelTime({ labels_at, label_times, pause_at }: HostFactsRow, label: string): string | null {
  const known = latest(labels_at, label_times[label] ?? null);
  return label === PAUSED_LABEL ? latest(known, pause_at) : known;
}

/**
 * Returns when the issue was opened or closed according to the event; for an open one only the time of its last change
 * is known.
 */
export const stateTime = ({ issue }: IssueEvent): string =>
  issue.state === 'closed' ? (issue.closedAt ?? issue.updatedAt) : issue.updatedAt;

/**
 * Returns the facts with the assignee that the event reports, unless a newer report is stored. Of two reports in one
 * second the one that arrives last is stored; the next poll corrects it.
 * @param own logins of the pipeline and its workers, which are skipped.
 */
export function withAssignee(facts: HostFactsRow, { issue }: IssueEvent, own: readonly string[]): HostFactsRow {
  if (!issue.assignees || compareStamps(issue.updatedAt, facts.assignee_at) < 0) return facts;
  return { ...facts, assignee: humanAssignee(issue.assignees, own), assignee_at: issue.updatedAt };
}

/**
 * A webhook's list may miss our pending writes, so only its own label is applied, and only if nothing newer is known of
 * that label.
 */
export function labelsAfter(issue: Pick<IssueRow, 'labels'>, event: IssueEvent, facts: HostFactsRow): string[] {
  const { action, label } = event;
  if (action === 'seen') return event.issue.labels;
  if (label === null || (action !== 'labeled' && action !== 'unlabeled')) return issue.labels;
  const order = compareStamps(event.issue.updatedAt, labelTime(facts, label));
  if (order < 0 || (order === 0 && label === ENQUEUE_LABEL)) return issue.labels;
  const others = issue.labels.filter((name) => name !== label);
  return action === 'labeled' ? [...others, label] : others;
}

/**
 * Returns whether the event reports a close. A closed issue in a webhook of another action may show a close that the
 * pipeline made and has reverted since; such a close by a person is left to its own webhook and to polls.
 */
export const isClose = ({ action, issue }: IssueEvent): boolean =>
  issue.state === 'closed' && (action === 'closed' || action === 'seen');

/** The times of the applied facts. A poll covers every label. */
export function timesAfter(facts: HostFactsRow, event: IssueEvent): HostFactsRow {
  const { action, label, issue } = event;
  const isReported = issue.state === 'open' || isClose(event);
  const state_at = isReported ? latest(facts.state_at, stateTime(event)) : facts.state_at;
  if (action === 'seen')
    return { ...facts, state_at, labels_at: latest(facts.labels_at, issue.updatedAt), label_times: {} };
  if (label === null || (action !== 'labeled' && action !== 'unlabeled')) return { ...facts, state_at };
  const at = latest(labelTime(facts, label), issue.updatedAt) ?? issue.updatedAt;
  return { ...facts, state_at, label_times: { ...facts.label_times, [label]: at } };
}
