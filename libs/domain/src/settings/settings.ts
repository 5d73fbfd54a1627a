import { z } from 'zod';
import { AGENT_KNOWLEDGE } from '../knowledge/retrieval.ts';
import { MAX_PROJECTION_ATTEMPTS } from '../outbox/projections.ts';
import { STATES } from '../states.ts';
import { CooldownMinutes, Weight } from '../tracks/track.ts';
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../windows.ts';

const ms = (standard: number) => z.int().positive().max(DAY_MS).default(standard);
export const HttpAddress = z.url({ protocol: /^https?$/, error: 'must be an http or https address' });
const usd = z.number().positive().max(1_000_000_000).nullable().default(null);
export const EnvName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of an environment variable');

export const SelfHealing = z.object({
  autoUnblockTransient: z.boolean().default(true).describe('Unblock issues with a transient block automatically.'),
  maxAutoUnblocksPerIssue: z.int().min(0).max(100).default(3),
  autoRestart: z.boolean().default(false).describe('Restart agents that do not respond to health checks.'),
  restartStrategy: z.enum(['pid', 'docker']).default('pid'),
  restartCooldownSec: z.int().min(0).max(86_400).default(300),
  maxRestartAttempts: z.int().min(0).max(100).default(3),
});

export const PollIntervals = z.object({
  sprintMaster: z.int().min(1).max(86_400).default(30).describe('Seconds between polls of the version-control host.'),
  monitor: z
    .int()
    .min(1)
    .max(86_400)
    .default(30)
    .describe('Seconds between refreshes of the data that the monitor serves from memory.'),
  metricsRefreshMin: z.int().min(1).max(1_440).default(5).describe('Minutes between refreshes of the repo metrics.'),
});

export const CostLimits = z.object({
  dailyUsd: usd.describe('Maximum spending in USD per UTC day and tenant; null = no limit.'),
  monthlyUsd: z.null().default(null).describe('Always null; monthly budgets are set per tenant.'),
  perIssueUsd: usd.describe('Maximum spending in USD per issue; null = no limit.'),
});

const digest = z.boolean().optional().describe('Whether the channel receives the daily digest; default true.');

/** Addresses and secrets of webhooks are given as variable names, so that no setting contains one. */
export const ALERT_CHANNELS = {
  webhook: z.object({
    type: z.literal('webhook'),
    digest,
    url: HttpAddress,
    secretEnv: EnvName.describe('Environment variable with the secret that signs deliveries.'),
  }),
  slack: z.object({
    type: z.literal('slack'),
    digest,
    urlEnv: EnvName.describe('Environment variable with the URL of the incoming webhook.'),
  }),
  log: z.object({ type: z.literal('log'), digest }),
};

const AlertChannel = z.discriminatedUnion('type', [ALERT_CHANNELS.webhook, ALERT_CHANNELS.slack, ALERT_CHANNELS.log]);

/** The key is given as a variable name, so that no setting contains one. */
const EmbeddingEndpoint = z.object({
  url: HttpAddress.describe('Base URL of an OpenAI-compatible API, such as https://api.openai.com/v1.'),
  model: z.string().min(1).max(200),
  apiKeyEnv: EnvName.nullable().default(null).describe('Environment variable with the API key; null = no key is sent.'),
  dimensions: z
    .int()
    .min(8)
    .max(4_096)
    .nullable()
    .default(null)
    .describe('Vector dimensions requested from the model; null = model default.'),
  timeoutMs: z.int().min(50).max(60_000).default(1_500).describe('Timeout of an embedding request in milliseconds.'),
});
export type EmbeddingEndpoint = z.output<typeof EmbeddingEndpoint>;
const threshold = (standard: number) => z.number().positive().max(1_000_000).nullable().default(standard);

/** Thresholds of the detectors; null = disabled. */
export const AlertThresholds = z.object({
  workerSilentMinutes: threshold(5).describe('Minutes without a heartbeat from a worker that did not sign off.'),
  claimAgeMinutes: threshold(120).describe('Minutes that a task has been claimed.'),
  queueAgeMinutes: threshold(60).describe('Minutes that a claimable task has been pending, by repo.'),
  noWorkerMinutes: threshold(3).describe(
    'Minutes that a claimable task has been pending although no worker is there that takes it, by repo.',
  ),
  noProgressMinutes: threshold(15).describe(
    'Minutes that an issue in a working state has had no task and no reason to wait.',
  ),
  failureLoopRuns: threshold(5).describe('Number of runs that failed with the same error within an hour, by repo.'),
  deadLettersPerHour: threshold(5).describe('Number of new dead letters within an hour, by repo.'),
  projectionBacklogMinutes: threshold(15).describe('Minutes that the oldest host write has been pending, by repo.'),
  rateLimitedMinutes: threshold(5).describe(
    'Minutes until the rate limit of a host resets, while the host rejects all requests.',
  ),
  costAnomalyFactor: threshold(3).describe(
    "Ratio of a tenant's spending today to its daily mean over the preceding seven days.",
  ),
  costAnomalyMinUsd: threshold(10).describe('Minimum daily spending in USD for a cost anomaly.'),
  labelDriftFindings: threshold(10).describe(
    'Number of issues whose labels on the host differ from their state, by repo.',
  ),
  loopFailures: threshold(3).describe(
    'Number of consecutive failed runs of a background loop of a monitor; a hanging loop also raises the alert.',
  ),
  storeAwaySeconds: threshold(60).describe('Seconds that the store may be unavailable.'),
  dashboardUrl: HttpAddress.nullable().default(null).describe('Base URL of the links in messages.'),
});
export const Retrieval = z.object({
  agentKnowledge: z
    .enum(AGENT_KNOWLEDGE)
    .default('marked')
    .describe(
      'Which findings and intelligence items reported by agents are included in the prompts of other agents: `marked` = all, with a marker of their origin on unapproved ones; `approved` = only those that an operator approved or accepted.',
    ),
  tokenBudget: z.int().min(100).max(1_000_000).default(4_000).describe('Token budget for intelligence in a task.'),
  embedding: z.boolean().default(false).describe('Include embedding-similarity recall; requires embeddingEndpoint.'),
  embeddingEndpoint: EmbeddingEndpoint.nullable().default(null),
});

export const Sla = z.object({
  warnAfterMinutes: z
    .partialRecord(z.enum(STATES), z.number().positive().max(525_600).nullable(), {
      error: (issue) => ('keys' in issue ? `is no state; states are ${STATES.join(', ')}` : undefined),
    })
    .default({})
    .describe(
      'Minutes in a state before the SLA warning, by state; null = never. A limit in the workflow of the repo takes precedence; states without either use a built-in default.',
    ),
});

export const TrackDefaults = z.object({
  cooldownMinutes: CooldownMinutes.default(60).describe('Minutes between two runs of a track.'),
  weight: Weight.default(1).describe('Relative weight of a track among the tracks of its repo.'),
  maxOpenIssues: z
    .int()
    .min(1)
    .max(1_000)
    .default(10)
    .describe('Maximum number of open issues created by the tracks of one repo.'),
});

export const Review = z.object({
  dismissStale: z
    .boolean()
    .default(true)
    .describe('Whether a push dismisses the approval of a person; false = the approval stays valid for later commits.'),
  workerLogins: z
    .array(z.string().regex(/^[A-Za-z0-9._[\]-]{1,100}$/, 'must be a login of the host'))
    .max(100)
    .default([])
    .describe('Additional logins whose pull requests from svc/issue-N branches count as work of the pipeline.'),
});

export const Checks = z.object({
  timeoutMinutes: z
    .number()
    .positive()
    .max(10_080)
    .default(120)
    .describe('Minutes that an approved pull request waits for its checks; after that the issue is blocked.'),
  pollSeconds: z
    .int()
    .min(1)
    .max(3_600)
    .default(30)
    .describe('Seconds between two reads of the checks of a waiting pull request; webhooks make them earlier.'),
});

const days = (standard: number) => z.int().min(1).max(36_500).default(standard);

export const Retention = z.object({
  eventsDays: days(400).describe(
    'Days that events and cost events are kept; deleted by whole months. Rollups are kept.',
  ),
  messagesDays: days(30).describe('Days that agent messages are kept; deleted by whole months.'),
  runsDays: days(400).describe(
    'Days that runs and checks of commits are kept. Artefacts of runs are kept without limit.',
  ),
  projectionsDays: days(90).describe('Days that settled entries of the outbox are kept.'),
});

export const Installations = z
  .enum(['default', 'organisation'])
  .default('default')
  .describe(
    'Organisation of the repositories that an installation of the GitHub App adds: `default`, or `organisation` = one for each account that the app is installed on, created when it is needed.',
  );

/** The host's published limits for content writes. */
const HostBudget = z.object({
  contentWritesPerMinute: z.int().positive().default(80),
  contentWritesPerHour: z.int().positive().default(500),
  concurrentRequests: z.int().positive().default(100),
  parallelIssues: z.int().positive().default(8),
});

/**
 * The effective settings of every process: the row that the monitor writes and the hosted API reads. Unknown keys are
 * dropped and missing ones take the built-in default, so that two releases can share the row. Durations are
 * milliseconds unless the name has another unit.
 */
export const Settings = z.object({
  maxAttempts: z.int().min(1).max(100).default(3),
  leaseMs: ms(60 * SECOND_MS),
  heartbeatIntervalMs: ms(10 * SECOND_MS),
  /** A worker that was silent for longer is offline. */
  workerSilenceMs: ms(30 * SECOND_MS),
  claimToStartMs: ms(120 * SECOND_MS),
  stallMs: ms(15 * MINUTE_MS),
  /** Time that a quota holds a task when no time was reported. */
  quotaBackoffMs: ms(15 * MINUTE_MS),
  maxProjectionAttempts: z.int().min(1).max(100).default(MAX_PROJECTION_ATTEMPTS),
  hostBudget: HostBudget.prefault({}),
  selfHealing: SelfHealing.prefault({}),
  pollIntervals: PollIntervals.prefault({}),
  costLimits: CostLimits.prefault({}),
  alertChannels: z.array(AlertChannel).max(20).default([]),
  alerts: AlertThresholds.prefault({}),
  retrieval: Retrieval.prefault({}),
  sla: Sla.prefault({}),
  tracks: TrackDefaults.prefault({}),
  retention: Retention.prefault({}),
  review: Review.prefault({}),
  checks: Checks.prefault({}),
  installations: Installations,
});
export type Settings = z.output<typeof Settings>;

/** The built-in defaults; used where no row exists. */
export const DEFAULT_SETTINGS: Readonly<Settings> = Object.freeze(Settings.parse({}));
