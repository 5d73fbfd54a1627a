import type { SEVERITIES } from '../severities.ts';
import type { Slate } from '../tracks/slate.ts';
import type { CharterEnvelope } from './charter.ts';
import type { StrategyChange } from './snapshot.ts';

/** A regression KPI of the repo, as the regression guard computes it. */
export interface KpiReading {
  kpi: string;
  value: number | null;
  baseline: number | null;
  regressed: boolean;
  magnitude: string;
}

/** Findings that nobody has settled, counted by what they are. */
export interface OpenFindings {
  findingType: string;
  category: string;
  severity: (typeof SEVERITIES)[number];
  count: number;
  /** The newest of them. */
  exampleId: string;
  exampleTitle: string;
}

/** What strategy knows of a track. */
export interface StrategyTrack {
  name: string;
  label: string;
  enabled: boolean;
  weight: number;
  /** null = no slate: it asks for one piece of work at a time. */
  proposal: Slate | null;
}

/** All that a proposal is made from. */
export interface StrategyInput {
  charter: { version: number; envelope: CharterEnvelope };
  kpis: readonly KpiReading[];
  findings: readonly OpenFindings[];
  tracks: readonly StrategyTrack[];
  /** Changes of the snapshots that were applied lately, newest first. */
  past: readonly StrategyChange[];
}
