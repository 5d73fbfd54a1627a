import {
  badDirection,
  COMPUTE_KPI,
  formatSlug,
  HOUR_MS,
  judgeKpi,
  KPIS,
  type Kpi,
  type KpiVerdict,
  METRIC_REGISTRY,
  REGRESSION_FROM,
} from '@pipeline/domain';
import {
  type AlertInput,
  type KpiRepo,
  keepKpis,
  kpiWeeks,
  openFingerprints,
  regressionsOfDisabledRepos,
  reposDueForKpis,
} from '@pipeline/store';
import { type Engine, inTenant, type TransactionContext } from '../context/context.ts';
import { raiseAlert, resolveAlert } from './alerts.ts';

/** A weekly figure changes little within an hour. */
const EVERY_MS = HOUR_MS;
const BATCH = 20;

type Verdict = KpiVerdict & { kpi: Kpi };

/**
 * Compares the last seven days of each repo with the four weeks before, stores the result, and raises an alert for each
 * regressed KPI; it is resolved once the KPI is back, or the repo is disabled. Evaluates due repos, some at a time.
 * @returns how many repos were evaluated, and whether more may be due.
 */
export async function watchKpis(engine: Engine): Promise<{ repos: number; more: boolean }> {
  const due = await reposDueForKpis(engine.store.db, EVERY_MS, BATCH);
  for (const repo of due) await checkRepo(engine, repo);
  for (const { tenant_id, fingerprint } of await regressionsOfDisabledRepos(engine.store.db))
    await inTenant(engine, tenant_id, (unit) => resolveAlert(unit, fingerprint));
  return { repos: due.length, more: due.length === BATCH };
}

async function checkRepo(engine: Engine, repo: KpiRepo): Promise<void> {
  const weeks = await kpiWeeks(engine.store.db, repo.tenant_id, repo.repo_id);
  const verdicts = KPIS.map((kpi) => ({ kpi, ...judgeKpi(kpi, weeks.map(COMPUTE_KPI[kpi])) }));
  await inTenant(engine, repo.tenant_id, async (unit) => {
    await keepKpis(unit.tx, { tenantId: repo.tenant_id, repoId: repo.repo_id }, verdicts);
    await raiseRegressions(unit, repo, verdicts);
  });
}

const fingerprintOf = ({ repo_id }: KpiRepo, kpi: Kpi): string => `kpi_regression:${repo_id}:${kpi}`;

/** Alerts come last, in fingerprint order. */
async function raiseRegressions(unit: TransactionContext, repo: KpiRepo, verdicts: readonly Verdict[]): Promise<void> {
  const open = new Set(await openFingerprints(unit.tx, unit.tenantId, 'kpi_regression'));
  for (const verdict of verdicts.toSorted((a, b) => (a.kpi < b.kpi ? -1 : 1))) {
    const fingerprint = fingerprintOf(repo, verdict.kpi);
    if (verdict.regressed) await raiseAlert(unit, alertOf(repo, verdict, fingerprint));
    else if (open.has(fingerprint)) await resolveAlert(unit, fingerprint);
  }
}

function alertOf(repo: KpiRepo, verdict: Verdict, fingerprint: string): AlertInput {
  const { kpi, currentValue, baselineValue, relativeDelta, magnitude, direction } = verdict;
  const slug = formatSlug(repo);
  const label = METRIC_REGISTRY.find(({ id }) => id === kpi)?.label ?? kpi;
  const change = Math.round(Math.abs(relativeDelta ?? 0) * 100);
  const way = direction === 'rise' ? 'rose' : 'fell';
  return {
    severity: 'warning',
    detector: 'kpi_regression',
    fingerprint,
    message: `${label} of ${slug} ${way} by ${change} % (${magnitude}): ${brief(currentValue)} in the last 7 days, ${brief(baselineValue)} in the four preceding weeks`,
    repo: slug,
    value: currentValue,
    threshold: baselineValue === null ? null : limitOf(kpi, baselineValue),
  };
}

const limitOf = (kpi: Kpi, baseline: number): number =>
  baseline * (badDirection(kpi) === 'rise' ? 1 + REGRESSION_FROM : 1 - REGRESSION_FROM);

/** Three significant digits. */
const brief = (value: number | null): string => (value === null ? '-' : String(Number(value.toPrecision(3))));
