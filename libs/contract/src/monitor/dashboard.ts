import { AGENT_STATUSES, DASHBOARD_STATUSES, STATES, type State } from '@pipeline/domain';
import { z } from 'zod';
import { PolledAt, Timestamp } from '../envelopes.ts';
import { clamped } from '../paging.ts';
import { route } from '../route.ts';
import { Alert } from '../shared/alert.ts';
import { ConfigReloadOutcome } from '../shared/config-reload-outcome.ts';
import { CostByWindow } from '../shared/cost-by-window.ts';
import { PipelineMetrics } from '../shared/pipeline-metrics.ts';
import { TenantBudgetDashboard } from '../shared/tenant-budgets.ts';
import { IssueTimeline } from '../shared/timeline.ts';
import { WorkerPoolSnapshot } from '../shared/worker-pool.ts';

const count = z.int().nonnegative();
const usd = z.number().nonnegative();

const summaryShape = Object.fromEntries(
  ([...STATES, 'paused', 'blocked'] as const).map((name) => [name, count]),
) as Record<State | 'paused' | 'blocked', typeof count>;

/** interface: AgentHealthSnapshot. */
export const AgentHealthSnapshot = z
  .object({
    agentName: z.string(),
    reachable: z.boolean().meta({ description: 'Whether it answered at all, be it with an error.' }),
    timestamp: z.int().meta({ description: 'Of the look, in epoch milliseconds.' }),
    responseTimeMs: z.number().nonnegative(),
    health: z.object({
      status: z.enum(AGENT_STATUSES),
      uptime: z.number().nonnegative().nullable().meta({ description: 'Seconds, as it says itself.' }),
      version: z.string().nullable(),
      lastError: z.string().nullable(),
      consecutiveFailures: count,
      currentTaskId: z.string().nullable(),
    }),
    costUsd: usd.meta({ description: 'What its work has cost since midnight UTC.' }),
    inFlightIssues: z.array(z.string()).meta({ description: 'As owner/repo#N.' }),
    tenantSpend: z
      .record(z.string(), usd)
      .meta({ description: 'The same cost by the external id of the tenant, without those that spent nothing.' }),
    restarts: count,
    lastRestartAt: Timestamp.nullable(),
    configReload: ConfigReloadOutcome.nullable(),
  })
  .meta({ id: 'AgentHealthSnapshot', description: 'An agent as of the last look.' });

/** How many issues' timelines a dashboard has. */
const TIMELINES = { min: 0, max: 50, default: 10 } as const;

const RecentTimeline = IssueTimeline.extend({
  truncated: z.boolean().meta({ description: 'Whether there are older entries or state transitions.' }),
}).meta({
  id: 'RecentTimeline',
  description:
    'The newest 20 entries and the newest 20 state transitions of an issue. Texts are cut at 2,000 characters; details of more than 2,000 are null. `GET /api/timeline/{owner}/{repo}/{issue}` gives the whole timeline.',
});

/** interface: Dashboard. */
export const Dashboard = z
  .object({
    status: z.enum(DASHBOARD_STATUSES).meta({
      description:
        'unhealthy = the store is away, or an alert is critical; degraded = an alert is a warning, an agent is not well, or what is shown is out of date.',
    }),
    uptime: z.number().nonnegative().meta({ description: 'Of the monitor, in seconds.' }),
    agents: z.record(z.string(), AgentHealthSnapshot).meta({
      description:
        'By name: the monitor itself, the configured agents, and one for each task type that has run. One without a health address is reachable while a worker that takes its tasks is online; it does not count for `status`.',
    }),
    alerts: z.array(Alert).meta({ description: 'The open ones, the worst first and then the newest; at most 500.' }),
    costTotalUsd: usd.meta({ description: 'Of all tenants, ever.' }),
    costByWindow: CostByWindow.optional(),
    tenants: TenantBudgetDashboard.optional(),
    issueTimelines: z.record(z.string(), RecentTimeline).optional().meta({
      description:
        'Timelines of issues in flight, by issue number: at most `timelines` of them and 256 KiB in total, those that entered their state last. An issue that does not fit is left out. Where several repos have an issue of one number, the one that entered its state last has the number as its key, the others `owner/repo#N`.',
    }),
    metrics: z
      .record(z.string(), PipelineMetrics)
      .optional()
      .meta({ description: 'By owner/repo; `owner/repo@tenant` where several tenants have one of that name.' }),
    workerPool: z.array(WorkerPoolSnapshot).optional().meta({ description: 'One for each enabled repo.' }),
    pipelineSummary: z.object(summaryShape).meta({
      description: 'Issues by state; paused and blocked count open issues that are marked so, in whatever state.',
    }),
    polledAt: PolledAt,
  })
  .meta({
    id: 'Dashboard',
    description: 'The whole pipeline at a glance. Optional parts are absent until they have been read.',
  });

const readDashboard = route({
  id: 'readDashboard',
  method: 'get',
  path: '/dashboard',
  summary: 'Show the whole pipeline at a glance',
  description:
    'From memory: counts of issues are at most seconds old, what is alive a poll of the monitor, figures of repos a refresh of the metrics. Answered also while the store is away, with what was known last.',
  tags: ['Dashboard'],
  auth: 'operator',
  needsStore: false,
  query: z.object({
    window: z
      .enum(['7d', '30d'])
      .default('7d')
      .meta({ description: 'What the figures of repos look back over.', example: '7d' }),
    timelines: clamped({ ...TIMELINES, fallback: TIMELINES.default, notANumber: 'refuse' }).meta({
      description: `How many timelines of issues in flight to give at most, ${TIMELINES.min} to ${TIMELINES.max}; clamped. 0 gives none.`,
      example: TIMELINES.default,
    }),
  }),
  replies: { 200: { description: 'The dashboard.', body: Dashboard } },
});

export const dashboardRoutes = [readDashboard] as const;
