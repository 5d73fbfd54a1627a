import { createHash } from 'node:crypto';
import { AppError } from '../errors.ts';
import { cappedText } from '../text/pattern.ts';
import type { FindingInput } from './finding.ts';

export const FINDING_STATUSES = ['open', 'accepted', 'resolved', 'dismissed', 'superseded'] as const;
export type FindingStatus = (typeof FINDING_STATUSES)[number];

/** What an operator can do to a finding, and where it leads. */
export const FINDING_MOVES = {
  accept: { to: 'accepted', from: ['open'] },
  resolve: { to: 'resolved', from: ['open', 'accepted'] },
  dismiss: { to: 'dismissed', from: ['open', 'accepted'] },
  reopen: { to: 'open', from: ['resolved', 'dismissed'] },
} as const satisfies Record<string, { to: FindingStatus; from: readonly FindingStatus[] }>;
export type FindingMove = keyof typeof FINDING_MOVES;

/** Whether a finding still asks for something to be done. */
export const isUnsettled = (status: FindingStatus): boolean => status === 'open' || status === 'accepted';

/**
 * @returns the status that a move leads to.
 * @throws AppError INVALID_TRANSITION, which says from where the move may be made.
 */
export function moveFinding(status: FindingStatus, move: FindingMove): FindingStatus {
  const { to, from } = FINDING_MOVES[move];
  if ((from as readonly string[]).includes(status)) return to;
  throw new AppError(
    'INVALID_TRANSITION',
    `A finding that is ${status} cannot be moved by ${move}; it would have to be ${from.join(' or ')}`,
  );
}

const MAX_TITLE = 1_000;

/** Titles that differ in case, space or punctuation alone are of the same thing. */
export const normalizedTitle = (title: string): string =>
  cappedText(title, MAX_TITLE)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Where a finding is: the first path and the first symbol that its evidence names. */
export function placeOf(evidence: FindingInput['evidence']): { path: string; symbol: string } {
  const symbol = evidence.find(({ kind, ref }) => kind === 'symbol' && text(ref) !== '');
  const path = evidence.find((entry) => text(entry.path) !== '');
  const file = evidence.find(({ kind, ref }) => kind === 'file' && text(ref) !== '');
  return { path: text(path?.path) || text(file?.ref), symbol: text(symbol?.ref) };
}

/**
 * Names a finding within its repo: the same one, reported again, has the same name. One that keeps an issue from being
 * merged is the issue's own: settling it for one issue must not let another pass.
 */
export function findingFingerprint(finding: FindingInput, issueId: number | null): string {
  const { path, symbol } = placeOf(finding.evidence);
  const own = finding.blocksProgress ? `issue ${issueId}` : '';
  const parts = [finding.findingType, finding.category, path, symbol, normalizedTitle(finding.title), own];
  return hashOf(parts);
}

export const hashOf = (parts: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32);
