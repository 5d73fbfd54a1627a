import type { Kpi } from '../analytics/kpis.ts';
import { KPI_MAGNITUDES, type KpiMagnitude } from './regression-guard.ts';

/** Summary of a day over all tenants (interface: Daily digest). USD; null = no cost event. */
export interface DailyDigest {
  /** UTC, YYYY-MM-DD. */
  date: string;
  pipelineByState: Record<string, number>;
  blockedCount: number;
  recentErrors: RecentError[];
  dailyCostUsd: number | null;
  monthlyCostUsd: number | null;
  topRegressedKpis: RegressedKpi[];
}

/** Errors of runs of the last 24 hours. */
export interface RecentError {
  fingerprint: string;
  message: string;
  count: number;
}

export interface RegressedKpi {
  owner: string;
  repo: string;
  kpi: Kpi;
  magnitude: KpiMagnitude;
  currentSampleSize: number;
  baselineSampleSize: number;
  topBlockReasons: { blockReason: string; count: number }[];
  topFingerprints: { fingerprint: string; count: number }[];
}

interface Regression {
  regressed: boolean;
  magnitude: KpiMagnitude;
  relativeDelta: number | null;
}

/** The most regressed KPIs, largest change first. */
export const worstOf = <T extends Regression>(kpis: readonly T[], limit: number): T[] =>
  kpis
    .filter(({ regressed }) => regressed)
    .sort((a, b) => KPI_MAGNITUDES.indexOf(b.magnitude) - KPI_MAGNITUDES.indexOf(a.magnitude) || sizeOf(b) - sizeOf(a))
    .slice(0, limit);

const sizeOf = ({ relativeDelta }: Regression): number => Math.abs(relativeDelta ?? 0);
