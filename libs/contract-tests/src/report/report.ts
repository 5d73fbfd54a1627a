import type { CheckResult } from '../checks/run-checks.ts';
import type { PropertyResult } from '../property/result.ts';
import type { Target } from '../target/target.ts';

/** The result of all suites that ran. */
export interface Report {
  targets: readonly Target[];
  checks: readonly CheckResult[];
  /** null = the property suite did not run. */
  property: PropertyResult | null;
}

export const targetOf = ({ targets }: Report, surface: string): Target => {
  const found = targets.find((target) => target.surface.name === surface);
  if (!found) throw new Error(`no surface ${surface}`);
  return found;
};

export const withOutcome = ({ checks }: Report, outcome: CheckResult['outcome']): CheckResult[] =>
  checks.filter((check) => check.outcome === outcome);

/** Failed checks and findings. */
export const problemCount = (report: Report): number =>
  withOutcome(report, 'failed').length + (report.property?.findings.length ?? 0);

export interface SuiteCount {
  surface: string;
  suite: string;
  passed: number;
  failed: number;
  skipped: number;
}

/** Checks by surface and suite, in the order in which they ran. */
export function suiteCounts({ checks }: Report): SuiteCount[] {
  const counts = new Map<string, SuiteCount>();
  for (const { surface, suite, outcome } of checks) {
    const key = `${surface} ${suite}`;
    const count = counts.get(key) ?? { surface, suite, passed: 0, failed: 0, skipped: 0 };
    counts.set(key, { ...count, [outcome]: count[outcome] + 1 });
  }
  return [...counts.values()];
}

interface EndpointTiming {
  surface: string;
  endpoint: string;
  requests: number;
  /** Milliseconds. */
  meanMs: number;
  slowestMs: number;
}

/** Lists timings by endpoint, the slowest mean first. */
export const timingsOf = ({ targets }: Report): EndpointTiming[] =>
  targets
    .flatMap(({ surface, timings }) =>
      [...timings].map(([endpoint, { requests, totalMs, slowestMs }]) => ({
        surface: surface.name,
        endpoint,
        requests,
        meanMs: Math.round(totalMs / requests),
        slowestMs: Math.round(slowestMs),
      })),
    )
    .sort((a, b) => b.meanMs - a.meanMs);

/** The last line of every report. */
export function summaryOf(report: Report): string {
  const counts = (['passed', 'failed', 'skipped'] as const).map(
    (outcome) => `${withOutcome(report, outcome).length} ${outcome}`,
  );
  const { property } = report;
  const generated = property
    ? `; ${property.tally.requests} generated requests, ${property.findings.length} findings, seed ${property.seed}`
    : '';
  return `checks: ${counts.join(', ')}${generated}`;
}
