import type { Logger, StopStack } from '@pipeline/runtime';
import { type ChildContext, urlOf } from '../children/context.ts';
import { demoPeople, demoWorker } from '../children/fleet.ts';
import { hostedApi, monitor, postgres, sandbox, webhookUrl } from '../children/servers.ts';
import type { ServedRepo, ServiceUrls } from '../data/database.ts';
import { writePipelineConfig } from '../data/pipeline-config.ts';
import { sandboxAdmin } from '../repos/sandbox-admin.ts';
import type { Supervisor } from '../supervision/supervisor.ts';
import { waitReady } from '../supervision/wait-ready.ts';
import type { StackOptions } from './options.ts';

export interface StackParts extends ChildContext {
  options: StackOptions;
  supervisor: Supervisor;
  stack: StopStack;
  log: Logger;
  signal: AbortSignal;
}

const SERVICES = ['hosted-api', 'monitor'];

export interface StartedDatabase {
  /** URL with which the owner of the database logs in. */
  url: string;
  services: ServiceUrls;
}

/** @returns the addresses of the database, ready to be used. */
export async function startDatabase(parts: StackParts): Promise<StartedDatabase> {
  const { options, supervisor, stack, state } = parts;
  if (options.databaseUrl === undefined) stack.add('postgres', () => supervisor.stop(['postgres']));
  const starting = options.databaseUrl ?? supervisor.start(postgres(parts));
  // The store's code is loaded while the server starts.
  const [url, { prepareDatabase }] = await Promise.all([starting, import('../data/database.ts')]);
  return { url, services: await prepareDatabase(url, state, options.databaseUrl === undefined) };
}

/** Checks that the sandbox host runs on each pull request; the pipeline merges what passes. */
const CI = [{ name: 'tests', seconds: 1 }];

/** @returns the repos as the sandbox host serves them. */
export async function startSandboxHost(parts: StackParts): Promise<ServedRepo[]> {
  const { supervisor, stack, state, ports } = parts;
  stack.add('sandbox', () => supervisor.stop(['sandbox']));
  const url = await supervisor.start(sandbox(parts));
  const admin = sandboxAdmin(url, state.sandbox.adminToken);
  await admin.dropStaleHooks(webhookUrl(ports));
  const { bot, person, agent } = state.sandbox;
  const collaborators = Object.fromEntries([bot, person, agent].map(({ login }) => [login, 'write']));
  return Promise.all(state.repos.map((repo) => admin.putRepo({ ...repo, collaborators, ci: CI })));
}

export async function startServices(parts: StackParts, database: StartedDatabase, repos: ServedRepo[]): Promise<void> {
  const { supervisor, stack, state, ports, dataDir, signal } = parts;
  const { enableRepos } = await import('../data/database.ts');
  await Promise.all([
    enableRepos(database.url, state.tenant, repos),
    writePipelineConfig(dataDir, state.monitor.username),
  ]);
  stack.add('services', () => supervisor.stop(SERVICES));
  const { hosted_api, monitor: monitorUrl } = database.services;
  await Promise.all([
    supervisor.start(hostedApi({ ...parts, databaseUrl: hosted_api })),
    supervisor.start(monitor({ ...parts, databaseUrl: monitorUrl })),
  ]);
  await Promise.all([waitReady(urlOf(ports, 'hosted'), signal), waitReady(urlOf(ports, 'monitor'), signal)]);
}

export async function startFleet(parts: StackParts): Promise<void> {
  const { supervisor, stack, options, state } = parts;
  // The newest repo: the one that this start asked for, or the only one.
  const repo = state.repos.at(-1);
  if (!repo) return;
  const workers = Array.from({ length: options.workers }, (_, index) => demoWorker(parts, index + 1));
  const fleet = [...workers, demoPeople(parts, { ...repo, issues: options.issues })];
  stack.add('demo fleet', () => supervisor.stop(fleet.map(({ name }) => name)));
  await Promise.all(fleet.map((child) => supervisor.start(child)));
}
