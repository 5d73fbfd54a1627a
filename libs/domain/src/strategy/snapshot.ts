import type { Slate, SlateSize } from '../tracks/slate.ts';

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
  /** What the evidence is about: KPIs, and types, categories and severities of findings. */
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
