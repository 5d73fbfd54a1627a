import { createSignal } from '@pipeline/web/shared/signal.ts';
import type { ActionIssue, ActionRecord } from './action.ts';

/** Actions of this page, oldest first. */
export const records = createSignal<readonly ActionRecord[]>([]);

let lastId = 0;

export function addRecord(record: Omit<ActionRecord, 'id'>): number {
  lastId += 1;
  records.set([...records.get(), { ...record, id: lastId }]);
  return lastId;
}

export function updateRecord(id: number, change: Partial<ActionRecord>): void {
  records.set(records.get().map((record) => (record.id === id ? { ...record, ...change } : record)));
}

export function dismissRecord(id: number): void {
  records.set(records.get().filter((record) => record.id !== id));
}

/** Removes the entry of an action that succeeded; a failure stays until the operator dismisses it. */
export function retireRecord(id: number): void {
  records.set(records.get().filter((record) => record.id !== id || record.phase === 'failed'));
}

/** Returns the latest action on an issue. */
export const actionOn = (all: readonly ActionRecord[], issue: ActionIssue): ActionRecord | undefined =>
  all.findLast((record) => record.issue?.repo === issue.repo && record.issue.issueNumber === issue.issueNumber);
