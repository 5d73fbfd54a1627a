import type { AnswerOf, configRoutes } from '@pipeline/contract';
import type { ConfigReloadOutcome, Settings } from '@pipeline/domain';
import type { ReloadReport, RepoWithTenant } from '@pipeline/store';
import type { AgentSnapshot } from '../workers/agents.ts';
import type { LoadedConfig } from './config.ts';
import type { ConfigInForce } from './config-in-force.ts';

type Summary = Extract<AnswerOf<(typeof configRoutes)[0]>, { status: 200 }>['body'];

/** Address of the store, without anything that opens it. */
export interface DatabasePlace {
  host: string | null;
  port: number;
  poolSize: number;
}

export interface SummaryParts {
  config: ConfigInForce;
  database: DatabasePlace;
  connected: boolean;
  /** Returns whether an environment variable is set; its value is not shown. */
  isSet: (variable: string) => boolean;
  /** The enabled repos of the store; null where it is not connected. */
  repos: readonly RepoWithTenant[] | null;
  /** Agents as of the last check. */
  agents: readonly AgentSnapshot[];
  /** Reload reports of every process that the store has. */
  reports: readonly ReloadReport[];
  /** Uptime of this process in seconds. */
  uptime: number;
}

/** A database address without its user, password and database. */
export function placeOf(databaseUrl: string | undefined, poolSize: number): DatabasePlace {
  if (databaseUrl === undefined) return { host: null, port: 5432, poolSize };
  const { hostname, port } = new URL(databaseUrl);
  return { host: decodeURIComponent(hostname) || null, port: port === '' ? 5432 : Number(port), poolSize };
}

/**
 * interface: Config summary. What is in force now. Repos are the enabled ones of the store with the values of the file
 * for them; without a store those of the file.
 */
export function configSummaryOf(parts: SummaryParts): Summary {
  const { config, database, connected, reports } = parts;
  const { selfHealing, pollIntervals, costLimits, alertChannels } = config.settings;
  return {
    configSource: config.running.source,
    database: {
      host: database.host,
      port: database.port,
      migrationVersion: null,
      poolSize: database.poolSize,
      connected,
    },
    repos: reposOf(config.file, parts.repos),
    selfHealing,
    pollIntervals,
    costLimits,
    alertChannels: alertChannels.map((channel) => ({
      type: channel.type,
      configured: variablesOf(channel).every(parts.isSet),
    })),
    agentHealth: agentHealthOf(parts),
    configReload: config.lastReload,
    agentConfigReload: [...reports],
  };
}

function reposOf({ config, ownBranch }: LoadedConfig, enabled: SummaryParts['repos']): Summary['repos'] {
  if (enabled === null) {
    return config.repos.map(({ slug, branch, poolSize, setupCommand }) => ({ slug, branch, poolSize, setupCommand }));
  }
  const nameOf = (tenant: string, slug: string) => `${tenant} ${slug.toLowerCase()}`;
  const inFile = new Map(config.repos.map((repo) => [nameOf(repo.tenant, repo.slug), repo]));
  return enabled.map(({ owner, name, tenant, default_branch, pool_size, setup_command }) => {
    const slug = `${owner}/${name}`;
    const own = inFile.get(nameOf(tenant, slug));
    const branch = own && ownBranch.has(own) ? own.branch : default_branch;
    if (own) return { slug, branch, poolSize: own.poolSize, setupCommand: own.setupCommand };
    return { slug, branch, poolSize: pool_size, setupCommand: setup_command };
  });
}

function variablesOf(channel: Settings['alertChannels'][number]): string[] {
  if (channel.type === 'webhook') return [channel.secretEnv];
  return channel.type === 'slack' ? [channel.urlEnv] : [];
}

/** The monitor itself comes first; it is well, or it would not answer. */
function agentHealthOf({ config, agents, reports, uptime }: SummaryParts): Summary['agentHealth'] {
  const own = { status: 'healthy', uptime, consecutiveFailures: 0, lastError: null } as const;
  const others = agents.filter(({ agentName }) => agentName !== 'monitor');
  return [
    { name: 'monitor', ...own, configReload: config.lastReload },
    ...others.map(({ agentName, health, configReload }) => ({
      name: agentName,
      // One that reports that it is degraded, or missed a look, is up.
      status: health.status === 'degraded' ? ('healthy' as const) : health.status,
      uptime: health.uptime,
      consecutiveFailures: health.consecutiveFailures,
      lastError: health.lastError,
      configReload: configReload ?? latestOf(reports, agentName),
    })),
  ];
}

function latestOf(reports: readonly ReloadReport[], agent: string): ConfigReloadOutcome | null {
  const outcomes = reports.filter(({ agentName }) => agentName === agent).map(({ outcome }) => outcome);
  return outcomes.toSorted((a, b) => b.at.localeCompare(a.at))[0] ?? null;
}
