import { parseSlug } from '@pipeline/domain';
import type { Logger, StopStack } from '@pipeline/runtime';
import { createGitHubHost } from '@pipeline/vcs';
import { type ChildContext, urlOf } from './children/context.ts';
import { demoPeople, demoWorker } from './children/fleet.ts';
import { hostedApi, monitor, postgres, sandbox, webhookUrl } from './children/servers.ts';
import { enableRepos, prepareDatabase, type ServedRepo } from './database.ts';
import type { StackOptions } from './options.ts';
import { writePipelineConfig } from './pipeline-config.ts';
import { dropStaleHooks } from './sandbox-admin.ts';
import type { Supervisor } from './supervision/supervisor.ts';
import { waitReady } from './wait-ready.ts';

export interface StackParts extends ChildContext {
  options: StackOptions;
  supervisor: Supervisor;
  stack: StopStack;
  log: Logger;
  signal: AbortSignal;
}

const SERVICES = ['hosted-api', 'monitor'];

/** @returns the address of the database, ready to be used. */
export async function startDatabase(parts: StackParts): Promise<string> {
  const { options, supervisor, stack, state } = parts;
  let url = options.databaseUrl;
  if (url === undefined) {
    stack.add('postgres', () => supervisor.stop(['postgres']));
    url = await supervisor.start(postgres(parts));
  }
  await prepareDatabase(url, state);
  return url;
}

/** @returns the repos as the sandbox host serves them. */
export async function startSandboxHost(parts: StackParts): Promise<ServedRepo[]> {
  const { supervisor, stack, state, ports } = parts;
  stack.add('sandbox', () => supervisor.stop(['sandbox']));
  const url = await supervisor.start(sandbox(parts));
  await dropStaleHooks(url, state.sandbox.adminToken, webhookUrl(ports));
  const { token } = state.sandbox.bot;
  const host = createGitHubHost({
    baseUrl: url,
    token,
    clientType: 'sandbox',
    userAgent: 'pipeline-stack',
    now: () => new Date(),
  });
  const slugs = state.repos.map(({ slug }) => ({ slug, ref: parseSlug(slug) ?? { owner: '', name: '' } }));
  return Promise.all(slugs.map(async ({ slug, ref }) => ({ slug, ...(await host.getRepo(ref)) })));
}

export async function startServices(parts: StackParts, databaseUrl: string, repos: ServedRepo[]): Promise<void> {
  const { supervisor, stack, state, ports, dataDir, signal } = parts;
  await Promise.all([
    enableRepos(databaseUrl, state.tenant, repos),
    writePipelineConfig(dataDir, state.monitor.username),
  ]);
  stack.add('services', () => supervisor.stop(SERVICES));
  const context = { ...parts, databaseUrl };
  await Promise.all([supervisor.start(hostedApi(context)), supervisor.start(monitor(context))]);
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
