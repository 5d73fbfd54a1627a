import { createHash } from 'node:crypto';
import { ENQUEUE_LABEL } from '../labels.ts';
import type { HistoryEvent, HostHistory } from '../vcs/host.ts';

/** The lower bound for new requests. */
export interface ActedOn {
  /** The host's time, or the store's if the host has not reported its own yet; null = no event was applied. */
  at: string | null;
  /** The newest log entry that was applied; null = unknown. */
  eventId: number | null;
}

/**
 * The newest request of a person to work on an issue that is done: a reopening, or the label for intake. A request
 * counts when it is newer than the last applied event, and no person closed the issue after it. Host times have a
 * resolution of one second: of two entries in the second of the last applied event, one counts if the issue was closed
 * when it was made.
 * @param requesters logins that may act as a person: entries of others are never requests.
 */
export function findRequest(
  events: readonly HistoryEvent[],
  requesters: ReadonlySet<string>,
  acted: ActedOn,
): HistoryEvent | null {
  let isClosed = false;
  let found: HistoryEvent | null = null;
  for (const event of events) {
    const isNew = event.id > (acted.eventId ?? 0) && isAfter(event.at, acted.at, isClosed);
    if (event.kind === 'closed') found = null;
    else if (isRequest(event) && requesters.has(event.actor ?? '') && isNew) found = event;
    if (event.kind === 'closed' || event.kind === 'reopened') isClosed = event.kind === 'closed';
  }
  return found;
}

/** The logins of the last requests since the last applied event, the newest first: those whose permission counts. */
export function requestersIn(events: readonly HistoryEvent[], acted: ActedOn): string[] {
  const requests = events.filter(
    (event) => isRequest(event) && event.id > (acted.eventId ?? 0) && isAfter(event.at, acted.at, true),
  );
  return [...new Set(requests.reverse().flatMap(({ actor }) => actor ?? []))].slice(0, MAX_REQUESTERS);
}

const MAX_REQUESTERS = 10;

const isRequest = ({ kind, label }: HistoryEvent): boolean =>
  kind === 'reopened' || (kind === 'labeled' && label === ENQUEUE_LABEL);

function isAfter(at: string, acted: string | null, orEqual: boolean): boolean {
  const order = compareStamps(at, acted);
  return order > 0 || (orEqual && order === 0);
}

/** Compares two times with the host's resolution of one second; null is before every time. */
export function compareStamps(one: string | null, other: string | null): number {
  const seconds = (time: string | null) =>
    time === null ? Number.NEGATIVE_INFINITY : Math.floor(Date.parse(time) / 1_000);
  return Math.sign(seconds(one) - seconds(other)) || 0;
}

/** The text of an issue that people wrote. */
export interface IssueText {
  title: string;
  body: string;
}

export const sameText = (one: IssueText, other: IssueText): boolean =>
  one.title === other.title && one.body === other.body;

/** SHA-256 of title, line feed and body, in hexadecimal. */
export const textHash = ({ title, body }: IssueText): string =>
  createHash('sha256').update(`${title}\n${body}`).digest('hex');

/** The author of the current text, unless another person has enqueued it since. */
interface TextEditors {
  /** The person who last added the label for intake; null = no person. */
  enqueuedBy: string | null;
  /** The person who reopened the issue after that label; null = no person. */
  reopenedBy: HistoryActor | null;
  /** The person who edited it after that label; null = no person. */
  title: HistoryActor | null;
  body: HistoryActor | null;
}

interface HistoryActor {
  /** null = unknown. */
  login: string | null;
}

/**
 * Reads the author of an issue's text from the log. Within one second, a label counts as older than an edit of the
 * body.
 */
export function textEditors({ events, bodyEdit }: HostHistory): TextEditors {
  const label = events.findLast((event) => event.kind === 'labeled' && event.label === ENQUEUE_LABEL);
  const renamed = events.findLast(({ kind }) => kind === 'renamed');
  const reopened = events.findLast(({ kind }) => kind === 'reopened');
  const isRenamedLater = renamed && renamed.id > (label?.id ?? 0);
  const isEditedLater = bodyEdit && compareStamps(bodyEdit.at, label?.at ?? null) >= 0;
  return {
    enqueuedBy: label?.actor ?? null,
    reopenedBy: reopened && reopened.id > (label?.id ?? 0) ? { login: reopened.actor } : null,
    title: isRenamedLater ? { login: renamed.actor } : null,
    body: isEditedLater ? { login: bodyEdit.editor } : null,
  };
}
