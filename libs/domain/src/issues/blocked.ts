import { normalizeError } from '../queue/error-fingerprint.ts';
import type { State } from '../states.ts';

/** A blocked issue (interface: Blocked issue entry). */
export interface BlockedIssueEntry {
  owner: string;
  repo: string;
  issueNumber: number;
  title: string;
  state: State;
  blockReason: string | null;
  blockedSince: string | null;
  lastError: string | null;
  errorPattern: string | null;
}

/** Blocked issues with one error in common (interface: Pattern entry). */
export interface ErrorPattern {
  pattern: string;
  count: number;
  issues: { owner: string; repo: string; issueNumber: number }[];
}

/** The pattern of an issue's last error; null if there is no error or its pattern is empty. */
export const errorPatternOf = (lastError: string | null): string | null => normalizeError(lastError ?? '') || null;

/** Blocked issues grouped by error pattern, the largest group first; those without an error are in none. */
export function patternsOf(entries: readonly BlockedIssueEntry[]): ErrorPattern[] {
  const groups = new Map<string, ErrorPattern['issues']>();
  for (const { errorPattern, owner, repo, issueNumber } of entries) {
    if (errorPattern === null) continue;
    const issues = groups.get(errorPattern) ?? [];
    issues.push({ owner, repo, issueNumber });
    groups.set(errorPattern, issues);
  }
  return [...groups]
    .map(([pattern, issues]) => ({ pattern, count: issues.length, issues }))
    .sort((a, b) => b.count - a.count || (a.pattern < b.pattern ? -1 : 1));
}
