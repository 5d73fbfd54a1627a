#!/usr/bin/env node
import { hostname } from 'node:os';
import { createLogger, makeFolder } from '@pipeline/runtime';
import manifest from '../package.json' with { type: 'json' };
import { createWorkerClient, isUnauthorized } from './client/client.ts';
import { AgentLogs } from './exec/agent-log.ts';
import { childEnv, execHandler } from './exec/exec.ts';
import { type RunAs, runAs } from './exec/user.ts';
import { runnerCommand, runnerOptions } from './options.ts';
import { createWorker } from './tasks/runner.ts';
import { isHidden, restartHidden, tokenFromFd } from './token.ts';

const EXIT_CONFIG = 78;

const command = runnerCommand(manifest.version).parse();
const options = runnerOptions(command);
const refuse = (message: string) => command.error(`error: ${message}`, { exitCode: EXIT_CONFIG });
const token = options.tokenFd === undefined ? (process.env[options.tokenEnv] ?? '') : tokenFromFd(options.tokenFd);
if (token === '') {
  refuse(`${options.tokenEnv} must contain the worker token (wrk_at_…); use --token-env to name another variable`);
}
if (process.argv.some((word) => word.includes(token))) {
  refuse('the worker token is on the command line, where every user of this machine can read it');
}
// The default is in a world-writable folder, and the work directory is transferred to that user.
if (options.user !== undefined && command.getOptionValueSource('workDir') === undefined)
  refuse('--user requires --work-dir');
const env = childEnv(process.env, { name: options.tokenEnv, value: token });
if (!isHidden()) restartHidden({ env, token });

function userOf(name: string | undefined): RunAs | null {
  try {
    return name === undefined ? null : runAs(name);
  } catch (error) {
    return refuse((error as Error).message);
  }
}

try {
  makeFolder(options.workDir);
} catch (error) {
  const { message } = error as Error;
  command.error(`error: --work-dir ${options.workDir} cannot be used: ${message}`, { exitCode: EXIT_CONFIG });
}

const log = createLogger({ process: 'pipeline-worker', level: options.logLevel }).child({ worker: options.name });
const logs = new AgentLogs(options.logDir ?? null);
const worker = createWorker({
  client: createWorkerClient({ server: options.server, token, log }),
  name: options.name,
  taskTypes: options.tasks,
  repos: options.repos,
  handler: execHandler({
    command: options.exec,
    workDir: options.workDir,
    concurrency: options.concurrency,
    taskTimeoutMs: options.taskTimeout,
    killGraceMs: options.killGrace,
    env,
    user: userOf(options.user),
    gitCredentials: options.gitCredentials,
    logs,
  }),
  log,
  concurrency: options.concurrency,
  once: options.once,
  hostname: hostname(),
  version: manifest.version,
});

if (!isHidden()) log.warn('this platform cannot hide the token: programs of the same user can read it');

let signals = 0;
for (const signal of ['SIGTERM', 'SIGINT'] as const)
  process.on(signal, () => {
    signals += 1;
    const next = signals === 1 ? 'finishing what runs; a second signal gives it back' : 'giving back what runs';
    log.info(next, { signal, tasks: worker.busy });
    if (signals === 1) worker.leave();
    else worker.abandon();
  });

try {
  await worker.run();
} catch (error) {
  process.exitCode = isUnauthorized(error) ? EXIT_CONFIG : 1;
  log.fatal(isUnauthorized(error) ? `the service rejected the token in ${options.tokenEnv}` : 'the worker failed', {
    error,
  });
} finally {
  await logs.close();
}
