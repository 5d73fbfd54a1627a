#!/usr/bin/env node
import manifest from '../package.json' with { type: 'json' };
import { execHandler } from './exec/exec.ts';
import { runnerCommand, runnerOptions } from './options.ts';
import { runProgram } from './run-program.ts';

const command = runnerCommand(manifest.version).parse();
const options = runnerOptions(command);

await runProgram({
  command,
  options,
  version: manifest.version,
  env: process.env,
  handler: ({ env, user, log, logs }) => ({
    agents: options.agents,
    handler: execHandler({
      command: options.exec,
      workDir: options.workDir,
      concurrency: options.concurrency,
      taskTimeoutMs: options.taskTimeout,
      killGraceMs: options.killGrace,
      env,
      user,
      gitCredentials: options.gitCredentials,
      logs,
      log,
    }),
  }),
});
