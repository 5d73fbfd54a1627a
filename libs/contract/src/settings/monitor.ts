import { z } from 'zod';
import { route } from '../wire/route.ts';
import { ConfigReloadOutcome } from './reload-outcome.ts';

const count = z.int().nonnegative();
const usd = z.number().nullable().meta({ description: 'Limit in USD. Null = no limit.' });
const keys = (description: string) => z.array(z.string()).meta({ description });

const Database = z.object({
  host: z.string().nullable().meta({ description: 'Null when no database is configured.' }),
  port: z.int().meta({ description: 'Configured port. Default 5432.' }),
  migrationVersion: z.null().meta({ description: 'Always null.' }),
  poolSize: count,
  connected: z.boolean(),
});

const AgentHealthLine = z.object({
  name: z.string(),
  status: z.enum(['healthy', 'unhealthy', 'stopped']),
  uptime: z.number().nonnegative().nullable().meta({ description: 'Uptime in seconds as reported by the agent.' }),
  consecutiveFailures: count,
  lastError: z.string().nullable(),
  configReload: ConfigReloadOutcome.nullable(),
});

/** interface: Config summary. */
const ConfigSummary = z
  .object({
    configSource: z.string().meta({ description: 'Absolute path of the configuration file, or `default`.' }),
    database: Database,
    repos: z.array(
      z.object({
        slug: z.string(),
        branch: z.string(),
        poolSize: count.nullable().meta({ description: 'Maximum number of concurrent tasks. Null = no limit.' }),
        setupCommand: z.string().nullable(),
      }),
    ),
    selfHealing: z.object({
      autoUnblockTransient: z.boolean(),
      autoRestart: z.boolean(),
      restartStrategy: z.enum(['pid', 'docker']),
      restartCooldownSec: count,
      maxRestartAttempts: count,
      maxAutoUnblocksPerIssue: count,
    }),
    pollIntervals: z.object({
      sprintMaster: count.meta({ description: 'Seconds.' }),
      monitor: count.meta({ description: 'Seconds.' }),
      metricsRefreshMin: count.meta({ description: 'Minutes.' }),
    }),
    costLimits: z.object({
      dailyUsd: usd,
      monthlyUsd: z.null().meta({ description: 'Always null.' }),
      perIssueUsd: usd,
    }),
    alertChannels: z.array(
      z.object({
        type: z.string(),
        configured: z
          .boolean()
          .meta({ description: 'Whether the environment variables named by the channel are set.' }),
      }),
    ),
    agentHealth: z.array(AgentHealthLine),
    configReload: ConfigReloadOutcome.nullable().meta({ description: 'Latest reload of this process.' }),
    agentConfigReload: z
      .array(z.object({ agentName: z.string(), instance: z.string(), outcome: ConfigReloadOutcome }))
      .meta({ description: 'Latest reload of every process, by name and instance. Empty without a store.' }),
  })
  .meta({ id: 'ConfigSummary', description: 'Current configuration. Contains no secrets and no names of secrets.' });

const config = { auth: 'operator', needsStore: false, tags: ['Config'] } as const;

const configSummary = route({
  ...config,
  id: 'configSummary',
  method: 'get',
  path: '/api/config-summary',
  summary: 'Get the configuration summary',
  description:
    'Always returns 200, also without a store. `repos` lists the enabled repos of the store with their settings from the configuration file; without a store, the repos of the file. `agentHealth` lists the monitor, the configured agents and the agents whose tasks have run.',
  replies: { 200: { description: 'Configuration summary.', body: ConfigSummary } },
});

const reloadConfig = route({
  ...config,
  id: 'reloadConfig',
  method: 'post',
  path: '/api/config/reload',
  summary: 'Reload the configuration file',
  description:
    'Validates the whole file and applies its reloadable keys. An invalid file changes nothing. Deferred keys take effect after a restart.',
  replies: {
    200: {
      description: 'Reload result.',
      body: z.object({
        ok: z.literal(true),
        appliedKeys: keys('Changed keys that took effect, in every process.'),
        deferredKeys: keys('Changed keys that take effect after a restart.'),
      }),
    },
  },
  errors: ['CONFIG_LOAD_FAILED', 'CONFIG_VALIDATION_FAILED', 'NO_CONFIG_FILE'],
});

export const configRoutes = [configSummary, reloadConfig] as const;
