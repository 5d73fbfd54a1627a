import type { ErrorClass } from '../error-classes.ts';
import { fingerprint, fingerprintOfPattern } from '../queue/error-fingerprint.ts';
import type { State } from '../states.ts';

/** Criteria for issues, beside their repo; all given ones must hold. */
export interface IssueCriteria {
  /** Without it every state but `done`. */
  states?: readonly State[] | undefined;
  isPaused?: boolean | undefined;
  isBlocked?: boolean | undefined;
  blockReason?: string | undefined;
  blockClassification?: ErrorClass | undefined;
  /** Patterns of the error that blocks the issue; any of them. */
  fingerprints?: readonly string[] | undefined;
  label?: string | undefined;
  issueNumbers?: readonly number[] | undefined;
}

/** The fields of an issue that the criteria read. */
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
 * Returns whether an issue meets the criteria. The store evaluates the same in SQL; this is evaluated again under the
 * issue's lock, because a selected issue may have changed before its turn.
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
 * The fingerprints that match an error given by its pattern, as in lists, or by its message.
 * @param also a fingerprint that must be among them, if given too.
 * @returns undefined when neither is given: any error, or none.
 */
export function fingerprintsMeant(pattern: string | undefined, also: string | undefined): string[] | undefined {
  if (pattern === undefined) return also === undefined ? undefined : [also];
  const meant = [...new Set([fingerprintOfPattern(pattern), fingerprint(pattern)])];
  return also === undefined ? meant : meant.filter((print) => print === also);
}
