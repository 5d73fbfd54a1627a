import type { ErrorClass } from './outcomes.ts';
import type { State } from './states.ts';

/** One row of the issue list of surface A, without `timeInStateMs`: a stored body knows no clock. */
export interface IssueListItem {
  issueNumber: number;
  title: string;
  url: string;
  state: State;
  isBlocked: boolean;
  isPaused: boolean;
  blockReason: string | null;
  blockClassification: ErrorClass | null;
  stateEnteredAt: string | null;
  /** The latest status message of an agent. */
  currentStatus: string | null;
  activeTaskType: string | null;
  assignedAgent: string | null;
  prNumber: number | null;
  labels: string[];
  parentIssueNumber: number | null;
  dependsOn: number[];
  costUsd: number;
  createdAt: string;
  updatedAt: string;
}

/** What of an item is stored, in characters and entries. */
export const LIST_CAPS = { title: 256, status: 160, labels: 20, dependsOn: 20 } as const;

/**
 * Octets of the body that a covering index takes. A longer row would make the index refuse it, and with it the whole
 * change of state; such a body is `big` and stays outside of the index.
 */
export const MAX_INDEXED_OCTETS = 2_000;

/** The stored body of a list row: JSON text, served as it is, and whether it is too long for the index. */
export function buildListItem(fields: IssueListItem): { body: string; big: boolean } {
  // The keys are named one by one: whatever else a caller's row carries must not reach the wire.
  const item: IssueListItem = {
    issueNumber: fields.issueNumber,
    title: shorten(fields.title, LIST_CAPS.title),
    url: fields.url,
    state: fields.state,
    isBlocked: fields.isBlocked,
    isPaused: fields.isPaused,
    blockReason: fields.blockReason,
    blockClassification: fields.blockClassification,
    stateEnteredAt: fields.stateEnteredAt,
    currentStatus: fields.currentStatus === null ? null : shorten(fields.currentStatus, LIST_CAPS.status),
    activeTaskType: fields.activeTaskType,
    assignedAgent: fields.assignedAgent,
    prNumber: fields.prNumber,
    labels: fields.labels.slice(0, LIST_CAPS.labels),
    parentIssueNumber: fields.parentIssueNumber,
    dependsOn: fields.dependsOn.slice(0, LIST_CAPS.dependsOn),
    costUsd: fields.costUsd,
    createdAt: fields.createdAt,
    updatedAt: fields.updatedAt,
  };
  const body = JSON.stringify(item);
  return { body, big: Buffer.byteLength(body) > MAX_INDEXED_OCTETS };
}

/** At most `max` characters, the last of them an ellipsis when something was cut; never half of a surrogate pair. */
export function shorten(text: string, max: number): string {
  if (text.length <= max) return text;
  const characters = Array.from(text.slice(0, 2 * max + 2));
  return characters.length <= max ? text : `${characters.slice(0, max - 1).join('')}…`;
}
