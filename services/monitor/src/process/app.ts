import { monitorSurface, type Readiness } from '@pipeline/contract';
import { AppError } from '@pipeline/domain';
import { createApp, createRateLimiter, type StreamLimits, serviceHandlers } from '@pipeline/http';
import type { Logger } from '@pipeline/runtime';
import { handlersReportingOutages, type StoreWatch } from '@pipeline/store';
import type { Express } from 'express';
import type { Registry } from 'prom-client';
import type { Dashboard } from '../analytics/dashboard.ts';
import type { Authentication } from '../auth/authentication.ts';
import type { LogIndex } from '../logs/log-index.ts';
import { metricsText } from '../prometheus/metrics-text.ts';
import { registerProcessGauges } from '../prometheus/process-gauges.ts';
import { authHandlers } from '../routes/accounts/accounts.ts';
import { auditHandlers } from '../routes/accounts/audit.ts';
import { alertHandlers } from '../routes/alerts/alerts.ts';
import { digestHandlers } from '../routes/alerts/digest.ts';
import { type RegressionGuardDeps, regressionGuardHandlers } from '../routes/alerts/regression-guard.ts';
import { analyticsHandlers } from '../routes/analytics/analytics.ts';
import { dashboardHandlers } from '../routes/analytics/dashboard.ts';
import { metricDefinitionHandlers } from '../routes/analytics/metric-definitions.ts';
import {
  type ConsistencyDeps,
  consistencyCountHandlers,
  consistencyHandlers,
} from '../routes/consistency/consistency.ts';
import { type DeadLetterDeps, deadLetterHandlers } from '../routes/dead-letters.ts';
import { type BlockedIssueDeps, blockedIssueHandlers } from '../routes/issues/blocked-issues.ts';
import { bulkActionHandlers } from '../routes/issues/bulk-actions.ts';
import { issueActionHandlers } from '../routes/issues/issue-actions.ts';
import { issueDetailHandlers } from '../routes/issues/issue-detail.ts';
import { planHandlers } from '../routes/issues/plans.ts';
import { findingHandlers } from '../routes/knowledge/findings.ts';
import { intelligenceHandlers } from '../routes/knowledge/intelligence.ts';
import { logHandlers } from '../routes/logs.ts';
import { projectionHandlers } from '../routes/outbox.ts';
import { queueHandlers } from '../routes/queue/queue.ts';
import { type TaskQueueDeps, taskQueueHandlers } from '../routes/queue/task-queue.ts';
import { type RepoRouteDeps, repoHandlers } from '../routes/repos.ts';
import { type ConfigRouteDeps, configHandlers } from '../routes/settings.ts';
import { strategyHandlers } from '../routes/strategy.ts';
import { type EventDeps, eventHandlers } from '../routes/stream.ts';
import { trackPromptHandlers } from '../routes/tracks/track-prompts.ts';
import { siTrackHandlers, trackHandlers } from '../routes/tracks/tracks.ts';
import { staticHandlers } from '../routes/web/static.ts';
import { workerHandlers } from '../routes/workers.ts';

export interface MonitorApp {
  auth: Authentication;
  /** null = no store is configured: every route that needs one answers 503. */
  pipeline:
    | (DeadLetterDeps &
        ConsistencyDeps &
        BlockedIssueDeps &
        TaskQueueDeps &
        RegressionGuardDeps &
        RepoRouteDeps &
        EventDeps & { storeWatch: StoreWatch })
    | null;
  /** Answered whether or not there is a store. */
  dashboard: Pick<Dashboard, 'page'>;
  readiness: () => Readiness;
  config: ConfigRouteDeps;
  /** null = there is no log folder. */
  logs: LogIndex | null;
  /** Folder of the built dashboard. */
  webDir: string;
  /** Requests per minute and credential; 0 = no limit. */
  requestsPerMinute: number;
  /** Limits on event streams that are open at a time. */
  streamLimits: StreamLimits;
  /** Proxies in front whose word about the caller's address is believed. */
  trustedProxies: number;
  /** Origins whose pages may change things, beside the host that each request names. */
  ownOrigins?: readonly string[];
  /** Host names that are served; undefined = any, which is for monitors with authentication only. */
  hostNames?: readonly string[] | undefined;
  answerCheck: 'throw' | 'log';
  log: Logger;
  registry: Registry;
  /** Time in ms for which one text of its metrics serves all requests. */
  metricsKeptMs: number;
  now: () => Date;
}

/** Surface B on Express. It does no I/O by itself. */
export function createMonitorApp(options: MonitorApp): Express {
  const { auth, pipeline, log, registry, answerCheck } = options;
  const connected = () => {
    if (pipeline === null) throw new AppError('STORE_UNAVAILABLE', '');
    return pipeline;
  };
  const stored = {
    ...analyticsHandlers(connected),
    ...auditHandlers(connected, options.now),
    ...alertHandlers(connected),
    ...deadLetterHandlers(connected),
    ...consistencyHandlers(connected),
    ...consistencyCountHandlers(connected),
    ...blockedIssueHandlers(connected),
    ...taskQueueHandlers(connected),
    ...regressionGuardHandlers(connected),
    ...digestHandlers(connected),
    ...bulkActionHandlers(connected),
    ...issueActionHandlers(connected),
    ...planHandlers(connected),
    ...findingHandlers(connected),
    ...intelligenceHandlers(connected),
    ...issueDetailHandlers(connected, options.now),
    ...projectionHandlers(connected),
    ...queueHandlers(connected),
    ...workerHandlers(connected),
    ...repoHandlers(connected),
    ...trackHandlers(connected),
    ...trackPromptHandlers(connected),
    ...siTrackHandlers(connected),
    ...strategyHandlers(connected),
    ...eventHandlers(pipeline, options.streamLimits),
    ...logHandlers(connected, { index: options.logs, now: options.now }),
  };
  registerProcessGauges(registry, options.now);
  const operator = createRateLimiter({ name: 'operator', limit: options.requestsPerMinute, windowSeconds: 60 });
  return createApp({
    surface: monitorSurface,
    handlers: {
      ...serviceHandlers({ surface: monitorSurface, readiness: options.readiness, now: options.now }),
      ...authHandlers(auth, () => pipeline?.feed.position ?? null),
      ...configHandlers(options.config),
      ...dashboardHandlers(options.dashboard),
      ...(pipeline ? handlersReportingOutages(pipeline.storeWatch, stored) : stored),
      ...metricDefinitionHandlers(),
      ...staticHandlers(options.webDir, metricsText(registry, options.metricsKeptMs)),
    },
    authenticators: { operator: auth.operator },
    limits: { identity: { operator } },
    storeReady: () => pipeline?.storeWatch.isConnected ?? false,
    trustProxy: options.trustedProxies,
    ownOrigins: options.ownOrigins ?? [],
    hostNames: options.hostNames,
    log,
    registry,
    answerCheck,
  });
}
