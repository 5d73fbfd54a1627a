/** How a weekly cycle ended; no changes and no input are not failures. */
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

/** Whether a proposal is made every week. */
export interface StrategyAutomation {
  enabled: boolean;
  cadence: 'weekly';
  lastProposedIsoWeek: string | null;
  /** null while it is off or there is no charter. */
  nextProposalAt: string | null;
  updatedAt: string | null;
  updatedBy: string | null;
}
