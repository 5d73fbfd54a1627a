import { z } from 'zod';
import { route } from '../wire/route.ts';
import { ConfigReloadOutcome } from './reload-outcome.ts';

const count = z.int().nonnegative();
const usd = z.number().nullable().meta({ description: 'US dollars; null = no limit.' });
const keys = (description: string) => z.array(z.string()).meta({ description });

const Database = z.object({
  host: z.string().nullable().meta({ description: 'null when no database is configured.' }),
  port: z.int().meta({ description: '5432 unless it is configured.' }),
  migrationVersion: z.null().meta({ description: 'Always null.' }),
  poolSize: count,
  connected: z.boolean(),
});

const AgentHealthLine = z.object({
  name: z.string(),
  status: z.enum(['healthy', 'unhealthy', 'stopped']),
  uptime: z.number().nonnegative().nullable().meta({ description: 'Seconds, as it says itself.' }),
  consecutiveFailures: count,
  lastError: z.string().nullable(),
  configReload: ConfigReloadOutcome.nullable(),
});

/** interface: Config summary. */
export const ConfigSummary = z
  .object({
    configSource: z.string().meta({ description: 'Absolute path of the file, or `default`.' }),
    database: Database,
    repos: z.array(
      z.object({
        slug: z.string(),
        branch: z.string(),
        poolSize: count.nullable().meta({ description: 'null = no limit.' }),
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
        configured: z.boolean().meta({ description: 'Whether the variables that it names are set.' }),
      }),
    ),
    agentHealth: z.array(AgentHealthLine),
    configReload: ConfigReloadOutcome.nullable().meta({ description: 'The last one of this process.' }),
    agentConfigReload: z
      .array(z.object({ agentName: z.string(), instance: z.string(), outcome: ConfigReloadOutcome }))
      .meta({ description: 'The last one of every process, by name and instance; empty without a store.' }),
  })
  .meta({ id: 'ConfigSummary', description: 'What is in force. It holds no secret and no name of one.' });

const config = { auth: 'operator', needsStore: false, tags: ['Config'] } as const;

const configSummary = route({
  ...config,
  id: 'configSummary',
  method: 'get',
  path: '/api/config-summary',
  summary: 'Show the configuration in force',
  description:
    'Answered also without a store. `repos` are the enabled ones of the store with what the configuration file says of them; without a store those of the file. `agentHealth` lists the monitor, the configured agents and those whose tasks have run.',
  replies: { 200: { description: 'The summary.', body: ConfigSummary } },
});

const reloadConfig = route({
  ...config,
  id: 'reloadConfig',
  method: 'post',
  path: '/api/config/reload',
  summary: 'Read the configuration file again',
  description: 'The whole file is good, or nothing changes. Deferred keys changed too, and wait for a restart.',
  replies: {
    200: {
      description: 'Reloaded.',
      body: z.object({
        ok: z.literal(true),
        appliedKeys: keys('In force now, in every process.'),
        deferredKeys: keys('Wait for a restart.'),
      }),
    },
  },
  errors: ['CONFIG_LOAD_FAILED', 'CONFIG_VALIDATION_FAILED', 'NO_CONFIG_FILE'],
});

export const configRoutes = [configSummary, reloadConfig] as const;
