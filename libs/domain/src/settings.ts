import { z } from 'zod';
import { MAX_PROJECTION_ATTEMPTS } from './projections.ts';
import { STATES } from './states.ts';
import { CooldownMinutes, Weight } from './tracks/track.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from './windows.ts';

const ms = (standard: number) => z.int().positive().max(DAY_MS).default(standard);
export const HttpAddress = z.url({ protocol: /^https?$/, error: 'must be an http or https address' });
const usd = z.number().positive().max(1_000_000_000).nullable().default(null);
export const EnvName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of an environment variable');

export const SelfHealing = z.object({
  autoUnblockTransient: z.boolean().default(true).describe('Unblock transient blocks by itself.'),
  maxAutoUnblocksPerIssue: z.int().min(0).max(100).default(3),
  autoRestart: z.boolean().default(false).describe('Restart agents that do not answer.'),
  restartStrategy: z.enum(['pid', 'docker']).default('pid'),
  restartCooldownSec: z.int().min(0).max(86_400).default(300),
  maxRestartAttempts: z.int().min(0).max(100).default(3),
});

export const PollIntervals = z.object({
  sprintMaster: z.int().min(1).max(86_400).default(30).describe('Seconds between polls of the host.'),
  monitor: z
    .int()
    .min(1)
    .max(86_400)
    .default(30)
    .describe('Seconds between refreshes of what the monitor keeps in memory.'),
  metricsRefreshMin: z.int().min(1).max(1_440).default(5).describe('Minutes between refreshes of the metrics.'),
});

export const CostLimits = z.object({
  dailyUsd: usd.describe('Spending per day and tenant (UTC); null = no limit.'),
  monthlyUsd: z.null().default(null).describe('Always null here: monthly budgets belong to tenants.'),
  perIssueUsd: usd.describe('Spending per issue; null = no limit.'),
});

const digest = z.boolean().optional().describe('Whether it is sent the daily digest; true without a word.');

/** Addresses and secrets of webhooks are given as variable names, so that no setting contains one. */
export const ALERT_CHANNELS = {
  webhook: z.object({
    type: z.literal('webhook'),
    digest,
    url: HttpAddress,
    secretEnv: EnvName.describe('Variable that holds the secret which signs deliveries.'),
  }),
  slack: z.object({
    type: z.literal('slack'),
    digest,
    urlEnv: EnvName.describe('Variable that holds the address of the incoming webhook.'),
  }),
  log: z.object({ type: z.literal('log'), digest }),
};

const AlertChannel = z.discriminatedUnion('type', [ALERT_CHANNELS.webhook, ALERT_CHANNELS.slack, ALERT_CHANNELS.log]);

/** The key is given as a variable name, so that no setting contains one. */
const EmbeddingEndpoint = z.object({
  url: HttpAddress.describe('Base address of an OpenAI-compatible API, such as https://api.openai.com/v1.'),
  model: z.string().min(1).max(200),
  apiKeyEnv: EnvName.nullable().default(null).describe('Variable that holds the key; null = none is sent.'),
  dimensions: z.int().min(8).max(4_096).nullable().default(null).describe('Asked of the model; null = its own.'),
  timeoutMs: z.int().min(50).max(60_000).default(1_500).describe('How long a retrieval waits for it.'),
});
export type EmbeddingEndpoint = z.output<typeof EmbeddingEndpoint>;
const threshold = (standard: number) => z.number().positive().max(1_000_000).nullable().default(standard);

/** Thresholds of the detectors; null = disabled. */
export const AlertThresholds = z.object({
  workerSilentMinutes: threshold(5).describe('A worker that nobody heard for so long, and that did not sign off.'),
  claimAgeMinutes: threshold(120).describe('A task that somebody has been working on for so long.'),
  queueAgeMinutes: threshold(60).describe('A task that could begin and that nobody took for so long, by repo.'),
  noProgressMinutes: threshold(15).describe('An issue in a working state that nothing works on and nothing holds.'),
  failureLoopRuns: threshold(5).describe('Runs that failed with one error within an hour, by repo.'),
  deadLettersPerHour: threshold(5).describe('New dead letters within an hour, by repo.'),
  projectionBacklogMinutes: threshold(15).describe('Age of the oldest write that waits for the host, by repo.'),
  rateLimitedMinutes: threshold(5).describe(
    'A host that refuses everything for its rate limit, for so long from now on.',
  ),
  costAnomalyFactor: threshold(3).describe("Today's spending of a tenant over the mean of the seven days before."),
  costAnomalyMinUsd: threshold(10).describe('Less spending than this on a day is no anomaly.'),
  labelDriftFindings: threshold(10).describe('Issues whose labels on the host differ from their state, by repo.'),
  loopFailures: threshold(3).describe('Failed runs of a background loop of a monitor in a row; also one that hangs.'),
  storeAwaySeconds: threshold(60).describe('How long the store may be away.'),
  dashboardUrl: HttpAddress.nullable().default(null).describe('Where messages link to.'),
});

/** Handling of agents' reports before an operator has approved them. */
export const AGENT_KNOWLEDGE = ['marked', 'approved'] as const;
export type AgentKnowledge = (typeof AGENT_KNOWLEDGE)[number];

export const Retrieval = z.object({
  agentKnowledge: z
    .enum(AGENT_KNOWLEDGE)
    .default('marked')
    .describe(
      'What of the findings and intelligence that agents report reaches the prompts of other agents: `marked` = all of it, what no operator has approved with a mark of its origin; `approved` = only what an operator has approved or accepted.',
    ),
  tokenBudget: z.int().min(100).max(1_000_000).default(4_000).describe('Tokens of intelligence in a task.'),
  embedding: z.boolean().default(false).describe('Recall by similarity of meaning as well; needs embeddingEndpoint.'),
  embeddingEndpoint: EmbeddingEndpoint.nullable().default(null),
});

export const Sla = z.object({
  warnAfterMinutes: z
    .partialRecord(z.enum(STATES), z.number().positive().max(525_600).nullable(), {
      error: (issue) => ('keys' in issue ? `is no state; states are ${STATES.join(', ')}` : undefined),
    })
    .default({})
    .describe(
      "By state; null = never. A limit in the repository's own workflow comes first; states without either have a built-in one.",
    ),
});

export const TrackDefaults = z.object({
  cooldownMinutes: CooldownMinutes.default(60).describe('Minutes between two runs of a track.'),
  weight: Weight.default(1).describe('Share of a track beside the others of its repo.'),
  maxOpenIssues: z
    .int()
    .min(1)
    .max(1_000)
    .default(10)
    .describe('Issues made by the tracks of one repo that may be open at one time.'),
});

export const Review = z.object({
  dismissStale: z
    .boolean()
    .default(true)
    .describe("A push ends a person's approval; false = it holds for the head that was seen last."),
  workerLogins: z
    .array(z.string().regex(/^[A-Za-z0-9._[\]-]{1,100}$/, 'must be a login of the host'))
    .max(100)
    .default([])
    .describe("Logins, beside the pipeline's own, whose pull requests from svc/issue-N branches are its work."),
});

const days = (standard: number) => z.int().min(1).max(36_500).default(standard);

export const Retention = z.object({
  eventsDays: days(400).describe('Days that events and cost events are kept; whole months go. Sums stay.'),
  messagesDays: days(30).describe('Days that what agents said is kept; whole months go.'),
  runsDays: days(400).describe('Days that runs are kept. Their artefacts stay for ever.'),
  projectionsDays: days(90).describe('Days that settled entries of the outbox are kept.'),
});

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
 * milliseconds unless the name says otherwise.
 */
export const Settings = z.object({
  maxAttempts: z.int().min(1).max(100).default(3),
  leaseMs: ms(60 * SECOND_MS),
  heartbeatIntervalMs: ms(10 * SECOND_MS),
  /** A worker that was silent for longer is offline. */
  workerSilenceMs: ms(30 * SECOND_MS),
  claimToStartMs: ms(120 * SECOND_MS),
  stallMs: ms(15 * MINUTE_MS),
  /** How long a quota holds a task when no time was reported. */
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
});
export type Settings = z.output<typeof Settings>;

/** The built-in defaults; used where no row exists. */
export const DEFAULT_SETTINGS: Readonly<Settings> = Object.freeze(Settings.parse({}));

const FIRST_DELAY_MS = 30 * SECOND_MS;
const RETRY_CAP_MS = 10 * MINUTE_MS;
const PROJECTION_CAP_MS = HOUR_MS;
const JITTER = 0.2;

/** Doubles with each attempt up to the cap, then ±20 % so that simultaneous failures are not retried simultaneously. */
function backoffMs(attempt: number, capMs: number, random: number): number {
  const steps = Math.max(0, Math.trunc(attempt));
  const delay = Math.min(FIRST_DELAY_MS * 2 ** steps, capMs);
  return Math.round(delay * (1 - JITTER + 2 * JITTER * random));
}

/**
 * Delay before the next attempt of a task, in milliseconds: min(30·2^attempt, 600) s ±20 %.
 * @param attempt the attempt that failed, counted from 0.
 * @param random a number from 0 to 1, drawn again for each call.
 */
export const retryDelayMs = (attempt: number, random: number): number => backoffMs(attempt, RETRY_CAP_MS, random);

/**
 * Delay before the next attempt of a projection, in milliseconds: min(30·2^attempt, 3600) s ±20 %.
 * @param attempt the attempt that failed, counted from 0.
 * @param random a number from 0 to 1, drawn again for each call.
 */
export const projectionDelayMs = (attempt: number, random: number): number =>
  backoffMs(attempt, PROJECTION_CAP_MS, random);

/**
 * The longest wait that a worker may request; a longer one needs repeated requests, so that a mistake does not hold a
 * task for days.
 */
export const MAX_ASKED_WAIT_MS = 6 * HOUR_MS;
/** Total time that a task waits for a quota before its issue is blocked and becomes visible. */
export const MAX_QUOTA_WAIT_MS = DAY_MS;
/** Earliest lift of a quota block; each time the task is tried once. */
const MIN_QUOTA_BLOCK_MS = HOUR_MS;

/**
 * The effect of a quota failure: another wait, or a block when the total wait would be too long. Milliseconds.
 * @param waitedMs how long the task has waited already.
 * @param askedMs the wait requested by the worker, or the setting.
 */
export function quotaWait(waitedMs: number, askedMs: number): { waitMs: number } | { blockMs: number } {
  const waitMs = Math.min(askedMs, MAX_ASKED_WAIT_MS);
  if (waitedMs + waitMs <= MAX_QUOTA_WAIT_MS) return { waitMs };
  return { blockMs: Math.max(waitMs, MIN_QUOTA_BLOCK_MS) };
}

const AUTO_UNBLOCK_MINUTES = [5, 15, 45] as const;

/** How long a transient block lasts before it is lifted automatically, by the number of earlier lifts; milliseconds. */
export const autoUnblockDelayMs = (count: number): number =>
  (AUTO_UNBLOCK_MINUTES[Math.max(0, Math.trunc(count))] ?? AUTO_UNBLOCK_MINUTES[2]) * MINUTE_MS;
