import { AGENT_STATUSES, DASHBOARD_STATUSES, STATES, type State } from '@pipeline/domain';
import { z } from 'zod';
import { Alert } from '../alerts/alert.ts';
import { CostByWindow } from '../costs/by-window.ts';
import { TenantBudgetDashboard } from '../costs/tenant-budgets.ts';
import { IssueTimeline } from '../issues/timeline.ts';
import { ConfigReloadOutcome } from '../settings/reload-outcome.ts';
import { PolledAt, Timestamp } from '../wire/envelopes.ts';
import { clamped } from '../wire/paging.ts';
import { route } from '../wire/route.ts';
import { WorkerPoolSnapshot } from '../workers/pool.ts';
import { PipelineMetrics } from './pipeline-metrics.ts';

const count = z.int().nonnegative();
const usd = z.number().nonnegative();

const summaryShape = Object.fromEntries(
  ([...STATES, 'paused', 'blocked'] as const).map((name) => [name, count]),
) as Record<State | 'paused' | 'blocked', typeof count>;

/** interface: AgentHealthSnapshot. */
const AgentHealthSnapshot = z
  .object({
    agentName: z.string(),
    reachable: z
      .boolean()
      .meta({ description: 'Whether the agent responded to the health check, including with an error status.' }),
    timestamp: z.int().meta({ description: 'Time of the health check in epoch milliseconds.' }),
    responseTimeMs: z.number().nonnegative(),
    health: z.object({
      status: z.enum(AGENT_STATUSES),
      uptime: z.number().nonnegative().nullable().meta({ description: 'Uptime in seconds as reported by the agent.' }),
      version: z.string().nullable(),
      lastError: z.string().nullable(),
      consecutiveFailures: count,
      currentTaskId: z.string().nullable(),
    }),
    costUsd: usd.meta({ description: 'Cost of the agent in USD since midnight UTC.' }),
    inFlightIssues: z.array(z.string()).meta({ description: 'Issues as `owner/repo#N`.' }),
    tenantSpend: z
      .record(z.string(), usd)
      .meta({ description: 'The same cost by external id of the tenant. Tenants without spending are omitted.' }),
    restarts: count,
    lastRestartAt: Timestamp.nullable(),
    configReload: ConfigReloadOutcome.nullable(),
  })
  .meta({ id: 'AgentHealthSnapshot', description: 'Result of the latest health check of an agent.' });

/** Number of issue timelines in a dashboard. */
const TIMELINES = { min: 0, max: 50, default: 10 } as const;

const RecentTimeline = IssueTimeline.extend({
  truncated: z.boolean().meta({ description: 'Whether there are older entries or state transitions.' }),
}).meta({
  id: 'RecentTimeline',
  description:
    'The newest 20 entries and the newest 20 state transitions of an issue. Texts are truncated to 2,000 characters; details longer than that are null. `GET /api/timeline/{owner}/{repo}/{issue}` returns the whole timeline.',
});

/** interface: Dashboard. */
export const Dashboard = z
  .object({
    status: z.enum(DASHBOARD_STATUSES).meta({
      description:
        '`unhealthy` = the store is unavailable or a critical alert is open; `degraded` = a warning is open, an agent is unhealthy, or the data is stale.',
    }),
    uptime: z.number().nonnegative().meta({ description: 'Uptime of the monitor in seconds.' }),
    agents: z.record(z.string(), AgentHealthSnapshot).meta({
      description:
        'Agents by name: the monitor, the configured agents, and one agent per task type that has run. An agent without a health address counts as reachable while a worker for its task type is online; it does not affect `status`.',
    }),
    alerts: z.array(Alert).meta({ description: 'Open alerts, most severe first, then newest first; at most 500.' }),
    costTotalUsd: usd.meta({ description: 'Total cost of all tenants in USD over all time.' }),
    costByWindow: CostByWindow.optional(),
    tenants: TenantBudgetDashboard.optional(),
    issueTimelines: z.record(z.string(), RecentTimeline).optional().meta({
      description:
        'Timelines of issues in flight, by issue number: at most `timelines` of them and 256 KiB in total, the issues that entered their state last. An issue that does not fit is omitted. When several repos have an issue with the same number, the one that entered its state last has the number as its key, the others `owner/repo#N`.',
    }),
    metrics: z.record(z.string(), PipelineMetrics).optional().meta({
      description:
        'Metrics by `owner/repo`, or by `owner/repo@tenant` when several tenants have a repo with this name.',
    }),
    workerPool: z.array(WorkerPoolSnapshot).optional().meta({ description: 'One entry per enabled repo.' }),
    pipelineSummary: z.object(summaryShape).meta({
      description: 'Number of issues by state. `paused` and `blocked` count open issues with that flag in any state.',
    }),
    polledAt: PolledAt,
  })
  .meta({
    id: 'Dashboard',
    description: 'Summary of the whole pipeline. Optional sections are absent until they have been loaded.',
  });

const readDashboard = route({
  id: 'readDashboard',
  method: 'get',
  path: '/dashboard',
  summary: 'Get the dashboard',
  description:
    "Served from memory. Issue counts are a few seconds old at most, agents and workers one poll interval, repo metrics one metrics refresh interval. While the store is unavailable, returns the last known data. Send the ETag of a response as If-None-Match to receive 304 while nothing but `uptime` and the time of the monitor's own health has changed. The body is compressed with Brotli or gzip for callers that accept it.",
  tags: ['Dashboard'],
  auth: 'operator',
  needsStore: false,
  query: z.object({
    window: z
      .enum(['7d', '30d'])
      .default('7d')
      .meta({ description: 'Window of the repo metrics. Default: 7d.', example: '7d' }),
    timelines: clamped({ ...TIMELINES, fallback: TIMELINES.default, notANumber: 'refuse' }).meta({
      description: `Maximum number of timelines of issues in flight, ${TIMELINES.min} to ${TIMELINES.max}; clamped. 0 omits the section.`,
      example: TIMELINES.default,
    }),
    metrics: z
      .enum(['true', 'false'])
      .default('true')
      .meta({ description: 'Whether to return `metrics`, the largest section. Default: true.', example: 'true' }),
  }),
  headers: z.object({
    'if-none-match': z.string().optional().meta({
      description: 'ETag of an earlier response. Returns 304 when it is still current.',
      example: 'W/"1NRt0Kd0nWsqfYFqVrqzWg"',
    }),
  }),
  replies: {
    200: {
      description: 'Dashboard data.',
      body: Dashboard,
      headers: { etag: { description: 'Version of the data; a weak ETag.', schema: z.string() } },
    },
    304: {
      description: 'The data has not changed since the response given by If-None-Match.',
      headers: { etag: { description: 'Version of the data, unchanged.', schema: z.string() } },
    },
  },
});

export const dashboardRoutes = [readDashboard] as const;
