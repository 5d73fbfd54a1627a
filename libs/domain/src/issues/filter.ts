import type { ErrorClass } from '../blocks.ts';
import { fingerprint, fingerprintOfPattern } from '../queue/error-fingerprint.ts';
import type { State } from '../states.ts';

/** What issues are chosen by, beside their repo; all that is given must hold. */
export interface IssueCriteria {
  /** Without it every state but `done`. */
  states?: readonly State[] | undefined;
  isPaused?: boolean | undefined;
  isBlocked?: boolean | undefined;
  blockReason?: string | undefined;
  blockClassification?: ErrorClass | undefined;
  /** Of the error that the issue is blocked with; any of them. */
  fingerprints?: readonly string[] | undefined;
  label?: string | undefined;
  issueNumbers?: readonly number[] | undefined;
}

/** What of an issue is looked at. */
export interface FilteredIssue {
  number: number;
  state: State;
  isPaused: boolean;
  isBlocked: boolean;
  blockReason: string | null;
  blockClassification: ErrorClass | null;
  errorFingerprint: string | null;
  labels: readonly string[];
}

/**
 * Whether an issue is meant. The store asks the same in SQL; this is asked again under the issue's lock, for what was
 * chosen may have moved on before its turn came.
 */
export function meets(issue: FilteredIssue, criteria: IssueCriteria): boolean {
  const { states, isPaused, isBlocked, blockReason, blockClassification, fingerprints, label, issueNumbers } = criteria;
  const { errorFingerprint } = issue;
  const isOne = <T>(value: T, wanted: T | undefined) => wanted === undefined || value === wanted;
  return (
    (states ? states.includes(issue.state) : issue.state !== 'done') &&
    isOne(issue.isPaused, isPaused) &&
    isOne(issue.isBlocked, isBlocked) &&
    isOne(issue.blockReason, blockReason) &&
    isOne(issue.blockClassification, blockClassification) &&
    (!fingerprints || (issue.isBlocked && errorFingerprint !== null && fingerprints.includes(errorFingerprint))) &&
    (label === undefined || issue.labels.includes(label)) &&
    (!issueNumbers || issueNumbers.includes(issue.number))
  );
}

/**
 * The fingerprints that a person may mean by an error: its pattern as the lists show it, or the message as it came.
 * @param also a fingerprint that must be among them, where one is given too.
 * @returns undefined when neither is given: any error, or none.
 */
export function fingerprintsMeant(pattern: string | undefined, also: string | undefined): string[] | undefined {
  if (pattern === undefined) return also === undefined ? undefined : [also];
  const meant = [...new Set([fingerprintOfPattern(pattern), fingerprint(pattern)])];
  return also === undefined ? meant : meant.filter((print) => print === also);
}
