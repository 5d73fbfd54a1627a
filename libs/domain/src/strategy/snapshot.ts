import type { Slate, SlateSize } from '../tracks/slate.ts';

/** proposed -(approve)-> active -(another is approved)-> superseded; proposed -(reject)-> rejected. */
export const SNAPSHOT_STATUSES = ['proposed', 'approved', 'active', 'superseded', 'rejected'] as const;
export type SnapshotStatus = (typeof SNAPSHOT_STATUSES)[number];

/** What lists can be asked for; a rejected snapshot is shown by its version. */
export const LISTED_SNAPSHOT_STATUSES = ['proposed', 'approved', 'active', 'superseded'] as const;

/** Who proposes: the weekly cycle, or a person. */
export const STRATEGY_SOURCES = ['weekly', 'operator'] as const;
export type StrategySource = (typeof STRATEGY_SOURCES)[number];

/** The fields of a track that a strategy may change. */
export const STRATEGY_FIELDS = ['enabled', 'weight', 'proposal'] as const;
export type StrategyField = (typeof STRATEGY_FIELDS)[number];

/** The rules that a change can come from. */
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
  /** What the track must still say when the change is applied. */
  from: T;
  to: T;
  rule: StrategyRule;
  /** In a sentence, for whoever decides. */
  reason: string;
  /** Refs of the evidence that it rests on. */
  evidence: string[];
  /** What the evidence is about: KPIs, and types, categories and severities of findings. */
  about: string[];
}
export type StrategyChange = Change<'enabled', boolean> | Change<'weight', number> | Change<'proposal', Slate | null>;

/** What a proposal rests on; the form of the evidence of findings. */
export interface StrategyEvidence {
  kind: 'kpi' | 'finding' | 'charter' | 'track';
  ref: string;
  summary: string;
}

/** How a snapshot stands to the charter. */
export interface StrategyRisk {
  /** The largest size of work that it asks more of. */
  maxSize: SlateSize;
  withinEnvelope: boolean;
  /** What the envelope forbids; nobody can apply such a snapshot. */
  violations: string[];
  /** Why it waits for an operator; empty = it may be applied by itself. */
  needsApproval: string[];
}

/** What work a track will ask for under a snapshot. */
export interface SlateLine {
  track: string;
  size: SlateSize;
  count: number;
}

/** Changes to the tracks of a repo, decided upon as one. */
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
