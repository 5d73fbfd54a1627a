import { STATES, TASK_TYPES } from '@pipeline/domain';
import { type Counts, type Figures, type Live, workerPools } from '@pipeline/engine';
import type { Registry } from 'prom-client';
import type { PolledValue } from '../polling/polled-value.ts';
import { registerGauges, type Sample } from './gauges.ts';

/** Read every few seconds, every poll of the monitor, every refresh of the metrics. */
export interface PolledDashboard {
  counts: PolledValue<Counts>;
  live: PolledValue<Live>;
  figures: PolledValue<Figures>;
}

const slug = ({ owner, name }: { owner: string; name: string }) => `${owner}/${name}`;

/** Reads what the dashboard has in memory, in the labels of gauges. Repos are the enabled ones. */
function readerOf(polled: PolledDashboard, now: () => Date) {
  const counts = () => polled.counts.last?.value;
  const live = () => polled.live.last?.value;
  const repoNames = () => new Map(counts()?.repos.map((repo) => [`${repo.tenantId}/${repo.repoId}`, slug(repo)]));
  const named = <T extends { tenantId: number; repoId: number }>(rows: readonly T[], sample: (row: T) => Sample) => {
    const names = repoNames();
    return rows.flatMap((row): Sample[] => {
      const repo = names.get(`${row.tenantId}/${row.repoId}`);
      const [labels, value] = sample(row);
      return repo === undefined ? [] : [[{ repo, ...labels }, value]];
    });
  };
  const states = () => counts()?.counts ?? [];
  /** Every enabled repo at zero, so that a series exists before its first issue and after its last one. */
  const zeros = (labels: readonly Record<string, string>[] = [{}]): Sample[] =>
    (counts()?.repos ?? []).flatMap((repo) => labels.map((more): Sample => [{ repo: slug(repo), ...more }, 0]));
  const work = () => live()?.work ?? [];
  const claims = () => {
    const oldest = new Map<string, Sample>();
    for (const { task } of live()?.workers ?? []) {
      if (!task?.claimed_at) continue;
      const seconds = (now().getTime() - Date.parse(task.claimed_at)) / 1_000;
      if (seconds > (oldest.get(task.repo)?.[1] ?? 0)) oldest.set(task.repo, [{ repo: task.repo }, seconds]);
    }
    return oldest.values();
  };
  const pools = () => {
    const [where, what] = [counts(), live()];
    return where && what ? workerPools(where, what) : [];
  };
  const waits = () => {
    const oldest = new Map<string, Sample>();
    for (const sample of named(work(), ({ oldestPendingAgeMs }) => [{}, (oldestPendingAgeMs ?? 0) / 1_000])) {
      const repo = sample[0].repo ?? '';
      if (sample[1] > (oldest.get(repo)?.[1] ?? 0)) oldest.set(repo, sample);
    }
    return oldest.values();
  };
  const known = new Set<string>(TASK_TYPES);
  return { live, named, states, zeros, work, claims, pools, waits, known };
}

type Reader = ReturnType<typeof readerOf>;
const repo = ['repo'] as const;

/** States, types and kinds are closed sets, so the number of series is that of repos and tenants. */
export function registerPipelineGauges(registry: Registry, polled: PolledDashboard, now: () => Date): void {
  const reader = readerOf(polled, now);
  registerIssueGauges(registry, reader);
  registerWorkGauges(registry, reader);
  registerMoneyGauges(registry, reader);
  registerFigureGauges(registry, polled);
}

function registerIssueGauges(registry: Registry, { named, states, zeros }: Reader): void {
  registerGauges(registry, [
    {
      name: 'svc_pipeline_issues',
      help: 'Number of issues by state.',
      labels: ['repo', 'state'],
      read: () => [...zeros(STATES.map((state) => ({ state }))), ...named(states(), ({ state, n }) => [{ state }, n])],
    },
    {
      name: 'svc_pipeline_issues_blocked',
      help: 'Number of blocked issues.',
      labels: repo,
      read: () => [...zeros(), ...named(states(), ({ isBlocked, n }) => [{}, isBlocked ? n : 0])],
    },
    {
      name: 'svc_pipeline_issues_paused',
      help: 'Number of paused issues.',
      labels: repo,
      read: () => [...zeros(), ...named(states(), ({ isPaused, n }) => [{}, isPaused ? n : 0])],
    },
  ]);
}

function registerWorkGauges(registry: Registry, { named, work, known, waits, claims, pools }: Reader): void {
  registerGauges(registry, [
    {
      name: 'svc_tasks',
      help: 'Number of pending and claimed tasks. Held tasks count as pending.',
      labels: ['repo', 'task_type', 'status'],
      read: () => {
        const rows = work().filter(({ taskType }) => known.has(taskType));
        const of = (status: 'pending' | 'claimed') =>
          named(rows, (row) => [{ task_type: row.taskType, status }, row[status]]);
        return [...of('pending'), ...of('claimed')];
      },
    },
    { name: 'svc_task_oldest_pending_seconds', help: 'Age of the oldest pending task.', labels: repo, read: waits },
    {
      name: 'svc_task_oldest_claim_seconds',
      help: 'Time since the claim of the longest running task.',
      labels: repo,
      read: claims,
    },
    {
      name: 'svc_workers',
      help: 'Number of workers by status. A worker that serves several repos counts in each.',
      labels: ['repo', 'status'],
      read: () =>
        pools().flatMap((pool): Sample[] =>
          (['idle', 'busy', 'draining', 'offline'] as const).map((status) => [
            { repo: pool.repo, status },
            pool[status],
          ]),
        ),
    },
    {
      name: 'svc_worker_utilization_ratio',
      help: 'Share of busy workers of a repo.',
      labels: repo,
      read: () => pools().map((pool): Sample => [{ repo: pool.repo }, (pool.utilizationPct ?? 0) / 100]),
    },
  ]);
}

function registerMoneyGauges(registry: Registry, { live }: Reader): void {
  registerGauges(registry, [
    {
      name: 'svc_alerts_active',
      help: 'Number of open alerts.',
      labels: ['severity', 'detector'],
      read: () => (live()?.alerts ?? []).map(({ severity, detector }): Sample => [{ severity, detector }, 1]),
    },
    {
      name: 'svc_tenant_spend_usd',
      help: 'Spending of a tenant in US dollars in the current UTC day and month.',
      labels: ['tenant', 'window'],
      read: () =>
        (live()?.budgets.tenants ?? []).flatMap(({ externalId: tenant, spentTodayUsd, spentMonthUsd }): Sample[] => [
          [{ tenant, window: 'day' }, spentTodayUsd],
          [{ tenant, window: 'month' }, spentMonthUsd],
        ]),
    },
    {
      name: 'svc_tenant_budget_usd',
      help: 'Budget of a tenant in US dollars; absent without a limit.',
      labels: ['tenant', 'period'],
      read: () =>
        (live()?.budgets.tenants ?? []).flatMap(({ externalId: tenant, dailyUsd }): Sample[] =>
          dailyUsd === null ? [] : [[{ tenant, period: 'day' }, dailyUsd]],
        ),
    },
  ]);
}

/** Registers the figures of the last seven days; a repo without any sample has none. */
function registerFigureGauges(registry: Registry, { figures }: PolledDashboard): void {
  const of = (
    read: (repo: {
      repo: string;
      cycleTimeMinutes: number | null;
      successRatePct: number | null;
      autonomousMergePct: number | null;
    }) => number | null,
    more = {},
  ) =>
    [...(figures.last?.value[7].values() ?? [])].flatMap((repo): Sample[] => {
      const value = read(repo);
      return value === null ? [] : [[{ repo: repo.repo, ...more }, value]];
    });
  const share = (percent: number | null) => (percent === null ? null : percent / 100);
  registerGauges(registry, [
    {
      name: 'svc_pipeline_cycle_time_seconds',
      help: 'Median cycle time of the last seven days.',
      labels: ['repo', 'quantile'],
      type: 'summary',
      read: () =>
        of(({ cycleTimeMinutes }) => (cycleTimeMinutes === null ? null : cycleTimeMinutes * 60), { quantile: '0.5' }),
    },
    {
      name: 'svc_pipeline_success_ratio',
      help: 'Share of merged issues among resolved issues of the last seven days.',
      labels: ['repo'],
      read: () => of(({ successRatePct }) => share(successRatePct)),
    },
    {
      name: 'svc_pipeline_autonomy_ratio',
      help: 'Share of autonomous issues among merged issues of the last seven days.',
      labels: ['repo'],
      read: () => of(({ autonomousMergePct }) => share(autonomousMergePct)),
    },
  ]);
}

/** Registers the gauge of the requests that each host still allows. */
export function registerRateGauge(
  registry: Registry,
  hosts: readonly { kind: string; rate: { remaining: number | null } }[],
): void {
  registerGauges(registry, [
    {
      name: 'svc_vcs_rate_limit_remaining',
      help: 'Remaining requests in the rate limit window of the host, as last reported.',
      labels: ['client'],
      read: () =>
        hosts.flatMap(({ kind, rate }): Sample[] =>
          rate.remaining === null ? [] : [[{ client: kind }, rate.remaining]],
        ),
    },
  ]);
}
