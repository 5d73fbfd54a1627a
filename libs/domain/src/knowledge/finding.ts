import { createHash } from 'node:crypto';
import { z } from 'zod';
import { MAX_INTEGER } from '../bounds.ts';
import { AppError } from '../errors.ts';
import { SEVERITIES } from '../severities.ts';
import { cappedText } from '../text/pattern.ts';

/** Fields of a piece of evidence besides its `kind`. */
const FIELDS = {
  ref: z.string().max(2_000),
  path: z.string().max(1_000),
  lineStart: z.int().min(0).max(MAX_INTEGER),
  lineEnd: z.int().min(0).max(MAX_INTEGER),
  url: z.string().max(2_000),
  summary: z.string().max(20_000),
};
const kind = z
  .string()
  .min(1)
  .max(100)
  .meta({ description: 'file, symbol, issue, pr, url, text, commit, test, log, route; others are accepted.' });

/** interface: Finding evidence. Other fields are kept. */
export const FindingEvidence = z
  .looseObject({ kind, ...z.object(FIELDS).partial().shape })
  .meta({ id: 'FindingEvidence', description: 'What a finding rests on.' });
export type FindingEvidence = z.infer<typeof FindingEvidence>;

const { ref, path, lineStart, lineEnd, url, summary } = FIELDS;

/** The same in the form of agents' reports: an optional field may also be null, and is then omitted. */
const FindingEvidenceInput = z
  .looseObject({
    kind,
    ref: ref.nullish(),
    path: path.nullish(),
    lineStart: lineStart.nullish(),
    lineEnd: lineEnd.nullish(),
    url: url.nullish(),
    summary: summary.nullish(),
  })
  .transform((given) => {
    const kept = Object.entries(given).filter(([key, value]) => value !== null || !(key in FIELDS));
    return Object.fromEntries(kept) as FindingEvidence;
  });

/** Maximum octets of a finding in JSON. */
const MAX_FINDING_OCTETS = 65_536;

/** An observation of an agent about the code or the issue (interface: Agent finding). */
export const FindingInput = z
  .object({
    findingType: z.string().min(1).max(100),
    category: z.string().min(1).max(100),
    severity: z.enum(SEVERITIES),
    confidence: z.number().min(0).max(1).nullable().default(null),
    title: z.string().min(1).max(500),
    summary: z.string().min(1).max(20_000),
    recommendation: z.string().max(20_000).nullable().default(null),
    evidence: z.array(FindingEvidenceInput).max(100).default([]),
    metadata: z.record(z.string(), z.unknown()).default({}),
    blocksProgress: z.boolean().default(false),
  })
  .refine((finding) => octetsOf(finding) <= MAX_FINDING_OCTETS, `must be at most ${MAX_FINDING_OCTETS} octets of JSON`);
export type FindingInput = z.infer<typeof FindingInput>;

export const FINDING_STATUSES = ['open', 'accepted', 'resolved', 'dismissed', 'superseded'] as const;
export type FindingStatus = (typeof FINDING_STATUSES)[number];

/** Operators' actions on a finding, and the resulting status. */
const FINDING_MOVES = {
  accept: { to: 'accepted', from: ['open'] },
  resolve: { to: 'resolved', from: ['open', 'accepted'] },
  dismiss: { to: 'dismissed', from: ['open', 'accepted'] },
  reopen: { to: 'open', from: ['resolved', 'dismissed'] },
} as const satisfies Record<string, { to: FindingStatus; from: readonly FindingStatus[] }>;
export type FindingMove = keyof typeof FINDING_MOVES;

/** Returns whether a finding is still unsettled. */
export const isUnsettled = (status: FindingStatus): boolean => status === 'open' || status === 'accepted';

/**
 * @returns the status after the action.
 * @throws AppError INVALID_TRANSITION, which lists the statuses that allow the action.
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

/** Titles that differ only in case, space or punctuation are equal. */
export const normalizedTitle = (title: string): string =>
  cappedText(title, MAX_TITLE)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The location of a finding: the first path and the first symbol of its evidence. */
export function placeOf(evidence: FindingInput['evidence']): { path: string; symbol: string } {
  const symbol = evidence.find(({ kind, ref }) => kind === 'symbol' && text(ref) !== '');
  const path = evidence.find((entry) => text(entry.path) !== '');
  const file = evidence.find(({ kind, ref }) => kind === 'file' && text(ref) !== '');
  return { path: text(path?.path) || text(file?.ref), symbol: text(symbol?.ref) };
}

/**
 * The key of a finding within its repo: the same finding, reported again, has the same key. For a finding that blocks
 * progress the key contains the issue: settling it for one issue must not unblock another.
 */
export function findingFingerprint(finding: FindingInput, issueId: number | null): string {
  const { path, symbol } = placeOf(finding.evidence);
  const own = finding.blocksProgress ? `issue ${issueId}` : '';
  const parts = [finding.findingType, finding.category, path, symbol, normalizedTitle(finding.title), own];
  return hashOf(parts);
}

export const hashOf = (parts: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32);

const octetsOf = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value)).length;

/** Maximum octets of a page of findings in JSON. */
const MAX_PAGE_OCTETS = 1_048_576;

/** The first findings of a page that fit into its maximum size, at least one: the next page begins after them. */
export function withinPage<T>(findings: readonly T[]): T[] {
  let octets = 0;
  const end = findings.findIndex((finding, index) => {
    octets += octetsOf(finding);
    return index > 0 && octets > MAX_PAGE_OCTETS;
  });
  return end < 0 ? [...findings] : findings.slice(0, end);
}
