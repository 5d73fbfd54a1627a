import { z } from 'zod';
import { Comparison } from '../agent-comparison.ts';
import { CHECK_POLICIES, MERGE_METHODS } from '../checks/checks.ts';
import { MERGE_TRAINS } from '../checks/merge-order.ts';
import { AppError } from '../errors.ts';
import { parseSlug, slugKey } from '../slugs.ts';
import { DEFAULT_MAX_ROUNDS, MAX_ROUNDS } from '../workflow/rounds.ts';
import {
  ALERT_CHANNELS,
  AlertThresholds,
  Checks,
  CostLimits,
  EnvName,
  HttpAddress,
  Installations,
  PollIntervals,
  Retention,
  Retrieval,
  Review,
  SelfHealing,
  Settings,
  Sla,
  TrackDefaults,
} from './settings.ts';

export const DEFAULT_TENANT = 'default';

const slug = z
  .string()
  .refine((value) => parseSlug(value) !== null, 'must be owner/name')
  .meta({ pattern: '^[A-Za-z0-9._-]{1,100}/[A-Za-z0-9._-]{1,100}$' });
const text = z.string().min(1).max(1_000);

/** An object whose unknown keys are errors that list the known ones: a typo must not be ignored. */
const section = <S extends z.ZodRawShape>(shape: S) =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys' ? `is no key here; keys are ${Object.keys(shape).join(', ')}` : undefined,
  });

const RepoConfig = section({
  slug: slug.describe('The repository, owner/name.'),
  branch: text.default('main').describe('Target branch of pull requests.'),
  poolSize: z
    .int()
    .min(1)
    .max(1_000)
    .nullable()
    .default(null)
    .describe('Maximum number of concurrent tasks; null = no limit.'),
  setupCommand: text.nullable().default(null).describe('Command that a worker runs after a checkout.'),
  checks: z
    .enum(CHECK_POLICIES)
    .default('required')
    .describe(
      'Checks that must be green before a merge: `required` = those that branch protection and rulesets require, or all checks of the head where none is required; `all` = required and all others; `none` = as required, but a head without any check is merged too.',
    ),
  mergeMethod: z
    .enum(MERGE_METHODS)
    .default('squash')
    .describe(
      'Way of merging; where the repository does not allow it, the first allowed one of squash, merge, rebase.',
    ),
  mergeTrain: z
    .enum(MERGE_TRAINS)
    .default('off')
    .describe(
      'Order of merges: `serial` = one after another, each branch updated and tested on top of the merge before it, for repositories without a merge queue; `off` = each as soon as it may be merged.',
    ),
  maxRounds: z
    .int()
    .min(1)
    .max(MAX_ROUNDS)
    .default(DEFAULT_MAX_ROUNDS)
    .describe(
      'Times that an issue is sent back along one edge of the workflow (changes requested, failed checks, a conflict, another plan) before a person is asked; an action of a person starts the count again.',
    ),
  compare: Comparison.nullable()
    .default(null)
    .describe(
      'Weights of the agents that are compared, by task type (analyze, plan, develop, review): each task is given to one of them by chance, in proportion to the weights; null = no comparison.',
    ),
  tenant: text.default(DEFAULT_TENANT).describe('External id of the tenant that owns the repo.'),
  vcs: z
    .enum(['github', 'sandbox'])
    .optional()
    .describe('Version-control host of the repo. Default: the host that the monitor is connected to.'),
});

const restartable = {
  pidFile: text.optional().describe('File with the process id, for the restart strategy pid.'),
  container: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,199}$/, 'must be the name or id of a container')
    .optional()
    .describe('Name of the container, for the restart strategy docker.'),
};

const AgentConfig = section({ url: HttpAddress.describe('Health check URL.'), ...restartable });

const login = {
  username: text
    .regex(/^[^:]*$/, 'must not contain a colon, which Basic authentication does not support')
    .describe('User name, recorded in the audit log.'),
  passwordEnv: EnvName.describe('Environment variable with the password or its argon2id hash.'),
};

const MonitorAgent = section({
  url: HttpAddress.optional().describe('Health check URL.'),
  auth: section({
    ...login,
    logins: z
      .array(section(login))
      .max(1_000)
      .default([])
      .describe('Additional logins. All logins have the same permissions.'),
  })
    .superRefine(refuseSameName)
    .optional()
    .describe('Without this block, every endpoint of the monitor is open without authentication.'),
});

const AlertChannel = z.discriminatedUnion('type', [
  section(ALERT_CHANNELS.webhook.shape),
  section(ALERT_CHANNELS.slack.shape),
  section(ALERT_CHANNELS.log.shape),
]);

/** The content of the file that PIPELINE_CONFIG names. */
export const PipelineConfig = section({
  repos: z.array(RepoConfig).max(10_000).default([]).superRefine(refuseTwins),
  agents: z.object({ monitor: MonitorAgent.optional() }).catchall(AgentConfig).default({}),
  selfHealing: section(SelfHealing.shape).prefault({}),
  pollIntervals: section(PollIntervals.shape).prefault({}),
  costLimits: section(CostLimits.shape).prefault({}),
  alertChannels: z.array(AlertChannel).max(20).default([]),
  retrieval: section(Retrieval.shape).superRefine(requireEndpoint).prefault({}),
  alerts: section(AlertThresholds.shape).prefault({}),
  sla: section(Sla.shape).prefault({}),
  consistency: section({
    orphans: z.boolean().default(false).describe('Scan the hosts for open issues without a pipeline record.'),
  }).prefault({}),
  tracks: section(TrackDefaults.shape)
    .prefault({})
    .describe('Defaults of new tracks, and the limit on open issues of all tracks.'),
  retention: section(Retention.shape).prefault({}).describe('Retention periods of the history.'),
  review: section(Review.shape)
    .prefault({})
    .describe('Which pull requests count as work of the pipeline, and when approvals are dismissed.'),
  checks: section(Checks.shape).prefault({}).describe('Waiting for the checks of a pull request before its merge.'),
  installations: Installations,
});
export type PipelineConfig = z.output<typeof PipelineConfig>;

/** Keys whose change applies immediately. */
export const RELOADABLE_KEYS = [
  'selfHealing',
  'pollIntervals',
  'costLimits',
  'alertChannels',
  'alerts',
  'retrieval',
  'sla',
  'tracks',
  'retention',
  'review',
  'checks',
  'installations',
] as const satisfies readonly (keyof PipelineConfig & keyof Settings)[];

/** Keys that are read at process start; a change waits for a restart. */
export const DEFERRED_KEYS = ['agents', 'consistency'] as const satisfies readonly (keyof PipelineConfig)[];

/**
 * Validates the parsed file; an empty one is the built-in default.
 * @throws AppError CONFIG_VALIDATION_FAILED whose message names every wrong key, one a line.
 */
export function parsePipelineConfig(value: unknown): PipelineConfig {
  const result = PipelineConfig.safeParse(value ?? {});
  if (result.success) return result.data;
  throw new AppError('CONFIG_VALIDATION_FAILED', result.error.issues.flatMap(linesOf).join('\n'));
}

/** The effective settings of a configuration: its reloadable keys over the built-in defaults. */
export const settingsOf = (config: PipelineConfig): Settings =>
  Settings.parse(Object.fromEntries(RELOADABLE_KEYS.map((key) => [key, config[key]])));

function requireEndpoint(retrieval: z.output<typeof Retrieval>, context: z.RefinementCtx): void {
  if (!retrieval.embedding || retrieval.embeddingEndpoint) return;
  context.addIssue({ code: 'custom', path: ['embeddingEndpoint'], message: 'must be set when embedding is true' });
}

function refuseTwins(repos: { slug: string; tenant: string }[], context: z.RefinementCtx): void {
  const seen = new Set<string>();
  for (const [index, repo] of repos.entries()) {
    const parsed = parseSlug(repo.slug);
    const key = `${repo.tenant} ${parsed ? slugKey(parsed) : index}`;
    if (seen.has(key)) {
      context.addIssue({ code: 'custom', path: [index, 'slug'], message: `${repo.slug} is listed twice` });
    }
    seen.add(key);
  }
}

function refuseSameName(auth: { username: string; logins: { username: string }[] }, context: z.RefinementCtx): void {
  const seen = new Set([auth.username]);
  for (const [index, { username }] of auth.logins.entries()) {
    if (seen.has(username)) {
      context.addIssue({ code: 'custom', path: ['logins', index, 'username'], message: `${username} is listed twice` });
    }
    seen.add(username);
  }
}

function linesOf(issue: z.core.$ZodIssue): string[] {
  const place = z.core.toDotPath(issue.path);
  if (issue.code !== 'unrecognized_keys') return [`${place || 'config'}: ${issue.message}`];
  return issue.keys.map((key) => `${place ? `${place}.` : ''}${key}: ${issue.message}`);
}
