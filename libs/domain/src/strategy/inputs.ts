import type { SEVERITIES } from '../severities.ts';
import type { Slate } from '../tracks/track.ts';
import type { CharterEnvelope, StrategyChange } from './snapshot.ts';

/** A regression KPI of the repo, as the regression guard computes it. */
export interface KpiReading {
  kpi: string;
  value: number | null;
  baseline: number | null;
  regressed: boolean;
  magnitude: string;
}

/** Unsettled findings, counted by kind. */
export interface OpenFindings {
  findingType: string;
  category: string;
  severity: (typeof SEVERITIES)[number];
  count: number;
  /** The newest of them. */
  exampleId: string;
  exampleTitle: string;
}

/** The fields of a track that strategy reads. */
export interface StrategyTrack {
  name: string;
  label: string;
  enabled: boolean;
  weight: number;
  /** null = no slate: one small issue at a time. */
  proposal: Slate | null;
}

/** All inputs of a proposal. */
export interface StrategyInput {
  charter: { version: number; envelope: CharterEnvelope };
  kpis: readonly KpiReading[];
  findings: readonly OpenFindings[];
  tracks: readonly StrategyTrack[];
  /** Changes of recently applied snapshots, newest first. */
  past: readonly StrategyChange[];
}
