import { z } from 'zod';
import { isStorable } from '../text/storable.ts';
import { SLATE_SIZES, type Slate, type SlateSize } from '../tracks/track.ts';

const Term = z
  .string()
  .max(200)
  .refine((text) => text.trim() !== '', 'must not be blank')
  .refine(isStorable, 'must not contain NUL or unpaired surrogates');
const Terms = z.array(Term).max(100);

/**
 * Limits of strategy. The three lists name subjects of changes: a track, its label, a field, the size or theme of an
 * entry of its slate, a KPI, or the type, category or severity of findings. Case, spaces, `_` and `-` are ignored.
 */
export const CharterEnvelope = z.strictObject({
  /** The largest size that is applied without an operator. */
  max_auto_size: z.enum(SLATE_SIZES),
  /** Terms to be increased where there is a choice. */
  prefer: Terms,
  /** Never to be increased: a snapshot that increases it cannot be applied. */
  avoid: Terms,
  /** Changes that need an operator. */
  escalate_when: Terms,
});
export type CharterEnvelope = z.infer<typeof CharterEnvelope>;

/** Goals and limits of a repo's self-improvement. Each version replaces the previous one. */
export interface StrategyCharter {
  version: number;
  goals: string;
  envelope: CharterEnvelope;
  author: string;
  created_at: string;
}

/** Outcomes of a weekly cycle; no changes and no input are not failures. */
export const STRATEGY_OUTCOMES = ['proposed', 'no_change', 'failed', 'skipped'] as const;
export type StrategyOutcome = (typeof STRATEGY_OUTCOMES)[number];

/** The latest weekly cycle of a repo. */
export interface StrategyRun {
  outcome: StrategyOutcome;
  failureReason: string | null;
  costUsd: number | null;
  nextDueAt: string;
  createdAt: string;
  consecutiveFailures: number;
  isoWeek: string;
  snapshotVersion: number | null;
}

/** Automation that makes a proposal every week, or is off. */
export interface StrategyAutomation {
  enabled: boolean;
  cadence: 'weekly';
  lastProposedIsoWeek: string | null;
  /** null while it is off or there is no charter. */
  nextProposalAt: string | null;
  updatedAt: string | null;
  updatedBy: string | null;
}

/** proposed -(approve)-> active -(another is approved)-> superseded; proposed -(reject)-> rejected. */
export const SNAPSHOT_STATUSES = ['proposed', 'approved', 'active', 'superseded', 'rejected'] as const;
export type SnapshotStatus = (typeof SNAPSHOT_STATUSES)[number];

/** Statuses that lists accept; a rejected snapshot is shown by its version. */
export const LISTED_SNAPSHOT_STATUSES = ['proposed', 'approved', 'active', 'superseded'] as const;

/** The author: the weekly cycle, or a person. */
export const STRATEGY_SOURCES = ['weekly', 'operator'] as const;
export type StrategySource = (typeof STRATEGY_SOURCES)[number];

/** The fields of a track that a strategy may change. */
export const STRATEGY_FIELDS = ['enabled', 'weight', 'proposal'] as const;
export type StrategyField = (typeof STRATEGY_FIELDS)[number];

/** The rules that produce changes. */
export const STRATEGY_RULES = [
  'charter-avoids',
  'charter-prefers',
  'regressed-kpi',
  'open-findings',
  'under-strain',
  'back-to-normal',
] as const;
export type StrategyRule = (typeof STRATEGY_RULES)[number];

interface Change<F extends StrategyField, T> {
  track: string;
  field: F;
  /** The value that the track must still have when the change is applied. */
  from: T;
  to: T;
  rule: StrategyRule;
  /** The reason, as a sentence for the operator. */
  reason: string;
  /** References to the evidence. */
  evidence: string[];
  /** Subjects of the evidence: KPIs, and types, categories and severities of findings. */
  about: string[];
}
export type StrategyChange = Change<'enabled', boolean> | Change<'weight', number> | Change<'proposal', Slate | null>;

/** The inputs of a proposal; the form of the evidence of findings. */
export interface StrategyEvidence {
  kind: 'kpi' | 'finding' | 'charter' | 'track';
  ref: string;
  summary: string;
}

/** The relation of a snapshot to the charter. */
export interface StrategyRisk {
  /** The largest size of work that it increases. */
  maxSize: SlateSize;
  withinEnvelope: boolean;
  /** Violations of the envelope; such a snapshot cannot be applied. */
  violations: string[];
  /** Why it needs an operator; empty = it may be applied automatically. */
  needsApproval: string[];
}

/** The work of a track under a snapshot. */
export interface SlateLine {
  track: string;
  size: SlateSize;
  count: number;
}

/** Changes to the tracks of a repo, with one decision for all. */
export interface StrategySnapshot {
  version: number;
  status: SnapshotStatus;
  intent: string;
  rationale: string;
  /** The active snapshot on which it was made. */
  parentVersion: number | null;
  charterVersion: number | null;
  proposedBy: string;
  createdAt: string;
  isoWeek: string | null;
  source: StrategySource;
  changes: StrategyChange[];
  slate: SlateLine[];
  risk: StrategyRisk;
  evidence: StrategyEvidence[];
  approvedAt: string | null;
  approvedBy: string | null;
  activatedAt: string | null;
  supersededAt: string | null;
  supersededBy: number | null;
  rejectedAt: string | null;
  rejectionReason: string | null;
  costUsd: number | null;
}
