import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Logger, StopStack } from '@pipeline/runtime';
import { Listr, ListrLogger, ProcessOutput } from 'listr2';
import { ROOT } from '../children/context.ts';
import { takeDataFolder } from '../data/data-folder.ts';
import type { ServedRepo } from '../data/database.ts';
import { choosePorts, type Ports } from '../data/ports.ts';
import { loadState, saveState } from '../data/state.ts';
import { chooseRepos } from '../repos/source-repo.ts';
import { Supervisor } from '../supervision/supervisor.ts';
import type { StackOptions } from './options.ts';
import { reportOf, type StackReport } from './report.ts';
import {
  type StackParts,
  type StartedDatabase,
  startDatabase,
  startFleet,
  startSandboxHost,
  startServices,
} from './stack.ts';

/** Packages of the pages that the services serve. */
const PACKAGES = ['services/monitor/web', 'services/hosted-api/web'];

export interface StartOptions {
  options: StackOptions;
  /** 0 = any free one. */
  ports: Ports;
  inherited: Readonly<Record<string, string>>;
  stack: StopStack;
  log: Logger;
  signal: AbortSignal;
  /** Called with the supervisor before it starts a child: its killAll ends them immediately. */
  onSupervisor(supervisor: Supervisor): void;
}

export interface Started {
  report: StackReport;
  startFleet(): Promise<void>;
}

/**
 * Starts the whole product; shows its steps on standard error. Everything that was started is registered in `stack`,
 * in the order of its start.
 * @returns addresses and credentials once the product can be used, and the way to start the demo fleet.
 * @throws StartError for problems that the caller can fix.
 */
export async function startStack(start: StartOptions): Promise<Started> {
  const parts = await prepare(start);
  let database: StartedDatabase = { url: '', services: { hosted_api: '', monitor: '' } };
  let repos: ServedRepo[] = [];
  const first = [
    {
      title: start.options.databaseUrl === undefined ? 'Postgres and its schema' : 'Schema of the given database',
      task: async () => {
        database = await startDatabase(parts);
      },
    },
    {
      title: 'Sandbox host (a version-control host with real git repositories)',
      task: async () => {
        repos = await startSandboxHost(parts);
      },
    },
  ];
  await inSteps([...first, { title: 'Dashboard', task: () => buildDashboards(start.signal) }]);
  await inSteps([{ title: 'Hosted API and monitor', task: () => startServices(parts, database, repos) }]);
  return { report: reportOf(parts.state, parts.ports, database.url), startFleet: () => startFleet(parts) };
}

/** Nothing runs yet: folder, state, ports and repos, whatever may be wrong with them. */
async function prepare(start: StartOptions): Promise<StackParts> {
  const { options, stack, log, inherited, signal } = start;
  const { dataDir } = options;
  const folder = await takeDataFolder(dataDir, options.fresh);
  stack.add('data folder', () => folder.release());
  if (folder.ended.length > 0) log.warn(`stopped processes left by an earlier run: ${folder.ended.join(', ')}`);
  const state = await loadState(dataDir);
  const say = (message: string) => log.warn(message);
  const searchPath = inherited.PATH ?? '';
  const repos = await chooseRepos({ path: options.repo, root: ROOT, dataDir, known: state.repos, searchPath, say });
  const ports = await choosePorts(start.ports, state.ports);
  Object.assign(state, { repos, ports });
  await saveState(dataDir, state);
  const supervisor = new Supervisor({ dataDir, say });
  start.onSupervisor(supervisor);
  stack.add('list of processes', () => supervisor.forget());
  return { options, dataDir, state, ports, inherited, supervisor, stack, log, signal };
}

interface Step {
  title: string;
  task: () => Promise<unknown>;
}

/** Concurrently: a spinner on a terminal, else a line at the beginning and the end of each step. */
function inSteps(steps: Step[]): Promise<unknown> {
  // What it calls its standard output is our standard error, and the other way round.
  const logger = new ListrLogger({ useIcons: true, processOutput: new ProcessOutput(process.stderr, process.stdout) });
  const isTerminal = process.stderr.isTTY === true && process.stdout.isTTY === true;
  const listr = new Listr(steps, {
    concurrent: true,
    exitOnError: true,
    registerSignalListeners: false,
    renderer: isTerminal ? 'default' : 'simple',
    rendererOptions: { logger },
    fallbackRendererOptions: { logger },
  });
  return listr.run();
}

/**
 * Builds the pages that the services serve, unless they were built from the current sources.
 * @throws Error when a build fails.
 */
async function buildDashboards(signal: AbortSignal): Promise<void> {
  for (const folder of PACKAGES) {
    const script = join(ROOT, folder, 'scripts/build-main.ts');
    await promisify(execFile)(process.execPath, ['--disable-warning=ExperimentalWarning', script, '--if-stale'], {
      signal,
    });
  }
}
