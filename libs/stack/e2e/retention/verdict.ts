import type { Episode, LockWait } from './locks.ts';
import type { Fingerprint } from './snapshot.ts';

/** An operation on a partition waits two seconds for its lock, and others behind it; half a second for the operation. */
export const LONGEST_WAIT_MS = 2_500;

/** @returns a line for each set of rows that is not what it was. */
export function lostRows(before: readonly Fingerprint[], after: readonly Fingerprint[]): string[] {
  return before.flatMap(({ what, rows, sum }) => {
    const now = after.find((one) => one.what === what);
    if (now?.rows === rows && now.sum === sum) return [];
    return [`${what}: ${rows} rows (${sum}) before, ${now?.rows ?? 'none'} (${now?.sum ?? ''}) after`];
  });
}

/** @returns a line for each table with rows that should have been deleted. */
export const leftRows = (due: readonly Fingerprint[]): string[] =>
  due.flatMap(({ what, rows }) => (rows === 0 ? [] : [`${what}: ${rows} rows are left`]));

/** @returns a line for each request of a service that waited too long for the lock of a table. */
export const longWaits = (waits: readonly LockWait[]): string[] =>
  waits.flatMap(({ application, ms }) =>
    ms <= LONGEST_WAIT_MS ? [] : [`${application} waited ${ms.toFixed(0)} ms, ${LONGEST_WAIT_MS} are allowed`],
  );

/** @returns a line for each transaction that kept others from a table for too long, waiting for the lock or with it. */
export const longLocks = (episodes: readonly Episode[]): string[] =>
  episodes.flatMap(({ table, waitedMs, heldMs }) =>
    waitedMs + heldMs <= LONGEST_WAIT_MS
      ? []
      : [`${table} was locked for ${heldMs.toFixed(0)} ms after a wait of ${waitedMs.toFixed(0)} ms`],
  );

/** @returns a line for each difference of two lists of names. */
export function wrongMonths(table: string, found: readonly string[], wanted: readonly string[]): string[] {
  const missing = wanted.filter((month) => !found.includes(month));
  const left = found.filter((month) => !wanted.includes(month));
  return [
    ...missing.map((month) => `${table} has no partition for ${month}`),
    ...left.map((month) => `${table} still has a partition for ${month}`),
  ];
}
