import { formatCount, plural } from '@pipeline/web/format/number.ts';
import { PageLink } from '@pipeline/web/navigation/page-link.tsx';
import layout from '@pipeline/web/page/layout.module.css';
import { Sparkline } from '../../charts/sparkline.tsx';
import { changeText, isSmall, type Kpi, kpiLabel, kpiValue } from './kpis.ts';
import styles from './regressions.module.css';

/** Issues behind a KPI. */
const ISSUES_OF: Partial<Record<Kpi['kpi'], { to: string; search?: Record<string, string> }>> = {
  block_rate: { to: '/issues', search: { state: 'blocked' } },
  failure_blocked_rate: { to: '/issues', search: { state: 'failure-blocked' } },
  dead_letter_rate: { to: '/trouble/dead-letters' },
  mean_cost_usd: { to: '/costs' },
};

/** The KPIs of a repo: now, baseline, change, samples, course. Few samples are greyed. */
export function KpiTable({ repo, kpis }: { repo: string; kpis: readonly Kpi[] }) {
  return (
    <ul className={styles.kpis}>
      {kpis.map((kpi) => (
        <li key={kpi.kpi} className={styles.kpi} data-small={isSmall(kpi) || undefined}>
          <KpiLine repo={repo} kpi={kpi} />
        </li>
      ))}
    </ul>
  );
}

function KpiLine({ repo, kpi }: { repo: string; kpi: Kpi }) {
  const { kpi: id, currentValue, baselineValue, currentSampleSize, baselineSampleSize, regressed, magnitude } = kpi;
  const behind = ISSUES_OF[id];
  const values = kpi.history.map(({ value }) => value).toReversed();
  return (
    <>
      <span className={styles.name}>
        {behind ? (
          <PageLink to={behind.to} search={{ repo, ...behind.search }}>
            {kpiLabel(id)}
          </PageLink>
        ) : (
          kpiLabel(id)
        )}
      </span>
      <span className={styles.value}>{kpiValue(id, currentValue)}</span>
      <span>
        {baselineValue === null ? 'no baseline yet' : `baseline ${kpiValue(id, baselineValue)}`}
        {baselineValue !== null && <br />}
        <span className={regressed ? layout.danger : layout.muted}>
          {baselineValue !== null && changeText(kpi)}
          {regressed && ` (${magnitude})`}
        </span>
      </span>
      <span className={layout.muted}>
        {plural(currentSampleSize, 'issue')} now, {formatCount(baselineSampleSize)} before
        {isSmall(kpi) && ': too few to judge'}
      </span>
      {values.filter((value) => value !== null).length > 1 && (
        <Sparkline
          values={values}
          baseline={baselineValue}
          summary={`${kpiLabel(id)} by day, oldest first: ${values.map((value) => kpiValue(id, value)).join(', ')}`}
        />
      )}
    </>
  );
}
