import { type PipelineMetrics as DomainMetrics, METRIC_WINDOWS_DAYS } from '@pipeline/domain';
import { z } from 'zod';
import { Timestamp } from '../wire/envelopes.ts';

const count = z.int().nonnegative();
const usd = z.number().nonnegative();
const ms = z.number().nonnegative().nullable();
const share = z.number().nonnegative().nullable();
const percentage = z.number().min(0).max(100).nullable();

/** interface: PipelineMetrics. /api/metric-definitions defines each metric. */
export const PipelineMetrics = z
  .object({
    repo: z.string(),
    windowDays: z.literal(METRIC_WINDOWS_DAYS),
    computedAt: Timestamp.meta({
      description: 'Time at which the metrics of the window were computed. Counts are more recent.',
    }),
    openIssues: count,
    inFlight: count,
    inProgress: count,
    blocked: count,
    awaitingReview: count,
    throughput: count,
    cycleTimeMinutes: z.number().nullable(),
    successRatePct: percentage,
    reviewPassRatio: share,
    timeToFirstPrMs: z.number().nullable(),
    avgReviewCycles: share,
    prRevertRatio: share,
    agentAttributionRatio: share,
    autonomousMergePct: percentage,
    costTodayUsd: usd,
    costWindowUsd: usd,
    dlqDepth: count,
    pendingTaskCount: count,
    avgQueueWaitMs: ms,
    oldestPendingAgeMs: ms,
    projectedDrainMs: ms,
    vcsWriteQueueDepth: count,
    vcsWriteQueueFailed: count,
    sampleSizes: z.object({ resolved: count, merged: count }),
  })
  .meta({ id: 'PipelineMetrics', description: 'Metrics of one repo. A metric is null when it has no samples.' });

const wire: (metrics: DomainMetrics) => z.input<typeof PipelineMetrics> = (metrics) => metrics;
void wire;
