import { DAY_MS, KPIS, type Kpi, type KpiVerdict, utcDate } from '@pipeline/domain';
import { usdOf } from './arithmetic.ts';
import { kpiOf, verdictOf } from './metrics/kpis.ts';
import { byText, namesOf } from './names.ts';
import { byRepo } from './repo-rows.ts';
import type { Rows } from './rows.ts';

const WEEKS = 5;
const WEEK_MS = 7 * DAY_MS;

/** Of every repo: each KPI of the last seven days against the four weeks before. */
export function guardOf(rows: Rows, now: number) {
  const alone = byRepo(rows);
  return rows.repos
    .toSorted((a, b) => byText(a.slug, b.slug) || a.tenantId - b.tenantId)
    .map(({ id, owner, name }) => ({
      repoId: id,
      owner,
      repo: name,
      kpis: KPIS.map((kpi) => ({ kpi, ...comparedWeeks(kpi, alone.get(id) ?? rows, now) })),
    }));
}

export type Guarded = ReturnType<typeof guardOf>;

/** A week holds its start and not its end; the current one goes on. */
function comparedWeeks(kpi: Kpi, rows: Rows, now: number): KpiVerdict {
  const weeks = Array.from({ length: WEEKS }, (_, week) => {
    const ends = now - week * WEEK_MS;
    const period = { from: ends - WEEK_MS, now: week === 0 ? now : ends - 1 };
    return kpiOf(kpi, rows, period);
  });
  return verdictOf(kpi, weeks);
}

/** What the day came to; KPIs are those that the guard found, the worst first. */
export function digestOf(rows: Rows, guarded: Guarded, now: number) {
  const names = namesOf(rows.repos);
  const states = Map.groupBy(rows.issues, ({ repoId, state }) => `${state}:${names.get(repoId)}`);
  return {
    date: utcDate(new Date(now)),
    pipelineByState: Object.fromEntries([...states].map(([key, issues]) => [key, issues.length])),
    blockedCount: rows.issues.filter(({ isBlocked, state }) => isBlocked && state !== 'done').length,
    recentErrors: errorsOf(rows, now),
    dailyCostUsd: spent(rows, now - DAY_MS),
    monthlyCostUsd: spent(rows, now - 30 * DAY_MS),
    topRegressedKpis: worstOf(rows, guarded, now),
  };
}

function spent({ costs }: Rows, since: number): number | null {
  const found = costs.filter(({ at }) => at >= since);
  return found.length === 0 ? null : usdOf(found);
}

const failuresSince = (rows: Rows, since: number) =>
  rows.runs.filter(
    ({ error, fingerprint, endedAt }) => error !== null && fingerprint !== null && (endedAt ?? 0) >= since,
  );

function errorsOf(rows: Rows, now: number) {
  const byFingerprint = Map.groupBy(failuresSince(rows, now - DAY_MS), ({ fingerprint }) => fingerprint ?? '');
  return [...byFingerprint]
    .map(([fingerprint, runs]) => ({
      fingerprint,
      count: runs.length,
      message: runs.reduce((a, b) => ((b.endedAt ?? 0) > (a.endedAt ?? 0) ? b : a)).error?.slice(0, 500),
    }))
    .sort((a, b) => b.count - a.count || byText(a.fingerprint, b.fingerprint))
    .slice(0, 50);
}

const SIZES = ['large', 'high', 'medium', 'low'];

function worstOf(rows: Rows, guarded: Guarded, now: number) {
  const delta = ({ relativeDelta }: KpiVerdict) => Math.abs(relativeDelta ?? 0);
  return guarded
    .flatMap(({ kpis, ...repo }) => kpis.map((kpi) => ({ ...repo, ...kpi })))
    .filter(({ regressed }) => regressed)
    .sort((a, b) => SIZES.indexOf(a.magnitude) - SIZES.indexOf(b.magnitude) || delta(b) - delta(a))
    .slice(0, 10)
    .map(({ repoId, owner, repo, kpi, magnitude, currentSampleSize, baselineSampleSize }) => ({
      owner,
      repo,
      kpi,
      magnitude,
      currentSampleSize,
      baselineSampleSize,
      topBlockReasons: topOf(blocksOf(rows, repoId, now)).map(([blockReason, count]) => ({ blockReason, count })),
      topFingerprints: topOf(
        failuresSince(rows, now - WEEK_MS)
          .filter((run) => run.repoId === repoId)
          .map(({ fingerprint }) => fingerprint ?? ''),
      ).map(([fingerprint, count]) => ({ fingerprint, count })),
    }));
}

const blocksOf = (rows: Rows, repoId: number, now: number): string[] =>
  rows.events
    .filter((event) => event.repoId === repoId && event.type === 'issue_blocked' && event.at >= now - WEEK_MS)
    .map(({ reason }) => reason ?? 'unknown');

const topOf = (words: string[]): [string, number][] =>
  [...Map.groupBy(words, (word) => word)]
    .map(([word, all]): [string, number] => [word, all.length])
    .sort((a, b) => b[1] - a[1] || byText(a[0], b[0]))
    .slice(0, 5);
