import { When } from '@pipeline/web/components/when.tsx';
import { formatSum, formatUsd } from '@pipeline/web/format/money.ts';
import { formatPercent, plural } from '@pipeline/web/format/number.ts';
import { EmptyNote } from '@pipeline/web/page/empty-note.tsx';
import layout from '@pipeline/web/page/layout.module.css';
import type { UseQueryResult } from '@tanstack/react-query';
import type { Reply } from '../../api/types.ts';
import { Panel } from '../../page/panel.tsx';
import styles from './budgets.module.css';

type Dashboard = Reply<'readDashboard'>;
type Tenant = NonNullable<Dashboard['tenants']>['tenants'][number];

const STATUS = {
  ok: ['within budget', layout.good],
  warning: ['near its budget', layout.warning],
  exceeded: ['over budget: no new task is claimed', layout.danger],
} as const satisfies Record<Tenant['status'], unknown>;

/** Spending of each tenant against its budgets, and where the month is going. */
export function BudgetsPanel({ query }: { query: UseQueryResult<Dashboard> }) {
  const tenants = query.data?.tenants?.tenants ?? [];
  return (
    <Panel title="Tenants and budgets" metrics={['cost']} query={query} polledAt={query.data?.polledAt} height={140}>
      {() =>
        tenants.length === 0 ? (
          <EmptyNote title="No tenant has been read yet." />
        ) : (
          <ul className={layout.list}>
            {tenants.map((tenant) => (
              <TenantLine key={tenant.tenantId} tenant={tenant} />
            ))}
          </ul>
        )
      }
    </Panel>
  );
}

function TenantLine({ tenant }: { tenant: Tenant }) {
  const [words, look] = STATUS[tenant.status];
  const hasBudget = tenant.dailyUsd !== null || tenant.monthlyUsd !== null;
  return (
    <li className={layout.item}>
      <div className={layout.row}>
        <strong>{tenant.name}</strong>
        <span className={hasBudget ? look : layout.muted}>{hasBudget ? words : 'no budget'}</span>
        <span className={layout.muted}>{plural(tenant.inFlightIssues, 'issue')} in flight</span>
      </div>
      <Budget
        name="Today, since 00:00 UTC"
        spent={tenant.spentTodayUsd}
        unreported={tenant.unreportedCostsToday}
        limit={tenant.dailyUsd}
        percent={tenant.percentUsedDaily}
      />
      <Budget
        name="This month, UTC"
        spent={tenant.spentMonthUsd}
        unreported={tenant.unreportedCostsMonth}
        limit={tenant.monthlyUsd}
        percent={tenant.percentUsedMonthly}
      />
      <p className={layout.muted}>
        {tenant.projectedMonthUsd === null
          ? 'No projection at the first instant of a month.'
          : `Projected for the month: ${formatUsd(tenant.projectedMonthUsd)}`}
        {' · day resets '}
        <When at={tenant.resetAt} as="time" />
      </p>
    </li>
  );
}

interface BudgetProps {
  name: string;
  spent: number;
  unreported: number;
  limit: number | null;
  percent: number | null;
}

function Budget({ name, spent, unreported, limit, percent }: BudgetProps) {
  const sum = formatSum(spent, unreported);
  const text = limit === null ? sum : `${sum} of ${formatUsd(limit)}`;
  return (
    <div className={styles.budget}>
      <span>{name}</span>
      <span>
        {text}
        {percent !== null && ` · ${formatPercent(percent)}`}
      </span>
      {limit !== null && <meter className={styles.meter} aria-label={name} min={0} max={limit} value={spent} />}
    </div>
  );
}
