import { z } from 'zod';
import { AppError } from '../errors.ts';
import { isStorable } from '../text/storable.ts';
import { hashOf, normalizedTitle } from './finding.ts';

export const INTELLIGENCE_KINDS = [
  'architecture',
  'invariant',
  'workflow_playbook',
  'test_strategy',
  'failure_pattern',
  'coupling',
  'operator_preference',
  'design_decision',
  'risk_area',
  'implementation_note',
] as const;
export type IntelligenceKind = (typeof INTELLIGENCE_KINDS)[number];

export const INTELLIGENCE_STATUSES = [
  'candidate',
  'observed',
  'proposed',
  'approved',
  'dismissed',
  'superseded',
] as const;
export type IntelligenceStatus = (typeof INTELLIGENCE_STATUSES)[number];

export const INTELLIGENCE_SCOPE_KINDS = [
  'repo',
  'package',
  'path',
  'file',
  'symbol',
  'route',
  'test',
  'service',
  'workflow',
] as const;
export type IntelligenceScopeKind = (typeof INTELLIGENCE_SCOPE_KINDS)[number];

export const INTELLIGENCE_EVIDENCE_TYPES = [
  'issue',
  'pr',
  'finding',
  'retrospective',
  'file',
  'commit',
  'ci',
  'test',
  'log',
  'human',
] as const;
export type IntelligenceEvidenceType = (typeof INTELLIGENCE_EVIDENCE_TYPES)[number];

const kept = (max: number) =>
  z.string().min(1).max(max).refine(isStorable, 'must not contain NUL or unpaired surrogates');

export const IntelligenceScopeInput = z.object({ kind: z.enum(INTELLIGENCE_SCOPE_KINDS), ref: kept(500) });
export type IntelligenceScopeInput = z.output<typeof IntelligenceScopeInput>;

export const IntelligenceEvidenceInput = z.object({
  type: z.enum(INTELLIGENCE_EVIDENCE_TYPES),
  ref: kept(500).nullable().default(null),
  path: kept(1_000).nullable().default(null),
  url: kept(2_000).nullable().default(null),
  excerpt: kept(4_000).nullable().default(null),
});
export type IntelligenceEvidenceInput = z.output<typeof IntelligenceEvidenceInput>;

/** Knowledge about the repo for later tasks, as an agent reports it. */
export const IntelligenceInput = z.object({
  kind: z.enum(INTELLIGENCE_KINDS),
  title: kept(500),
  summary: kept(5_000),
  details: kept(20_000).nullable().default(null),
  confidence: z.number().min(0).max(1).nullable().default(null),
  tags: z.array(kept(50)).max(20).default([]),
  scopes: z.array(IntelligenceScopeInput).max(50).default([]),
  evidence: z.array(IntelligenceEvidenceInput).max(50).default([]),
});
export type IntelligenceInput = z.output<typeof IntelligenceInput>;

/** The key of an item within its repo: the same observation has the same key. */
export const intelligenceFingerprint = ({ kind, title }: Pick<IntelligenceInput, 'kind' | 'title'>): string =>
  hashOf([kind, normalizedTitle(title)]);

const OBSERVED_AT = 2;
const PROPOSED_AT = 3;
const PROPOSED_FROM_CONFIDENCE = 0.7;

/**
 * The status of an item after an observation: observed at two; proposed at three, or at two if the reporter is
 * confident. A person's decision is not changed.
 */
export function promoted(
  status: IntelligenceStatus,
  { observations, confidence }: { observations: number; confidence: number | null },
): IntelligenceStatus {
  if (status !== 'candidate' && status !== 'observed') return status;
  if (observations >= PROPOSED_AT) return 'proposed';
  if (observations < OBSERVED_AT) return status;
  return (confidence ?? 0) >= PROPOSED_FROM_CONFIDENCE ? 'proposed' : 'observed';
}

/** Operators' actions on an item, and the resulting status. */
const INTELLIGENCE_MOVES = {
  approve: { to: 'approved', from: ['proposed'] },
  dismiss: { to: 'dismissed', from: ['candidate', 'observed', 'proposed', 'approved'] },
  supersede: { to: 'superseded', from: ['approved'] },
} as const satisfies Record<string, { to: IntelligenceStatus; from: readonly IntelligenceStatus[] }>;
export type IntelligenceMove = keyof typeof INTELLIGENCE_MOVES;

/**
 * @returns the status after the action.
 * @throws AppError INVALID_TRANSITION, which lists the statuses that allow the action.
 */
export function moveIntelligence(status: IntelligenceStatus, move: IntelligenceMove): IntelligenceStatus {
  const { to, from } = INTELLIGENCE_MOVES[move];
  if ((from as readonly string[]).includes(status)) return to;
  throw new AppError(
    'INVALID_TRANSITION',
    `An item that is ${status} cannot be moved by ${move}; it would have to be ${from.join(' or ')}`,
  );
}

/** An item that was neither reported nor given to an agent for this long is dismissed. */
export const STALE_AFTER_DAYS = 90;
export const STALE = 'stale';
