#!/usr/bin/env node
import { join } from 'node:path';
import { execHandler, runProgram } from '@pipeline/worker';
import manifest from '../package.json' with { type: 'json' };
import { agentWorker } from './agent-worker.ts';
import { KEY_VARIABLES } from './agents/presets.ts';
import { agentCommand, agentOptions } from './options.ts';

const command = agentCommand(manifest.version).parse();
const options = agentOptions(command);
if (options.agent === undefined && options.exec === undefined) command.error('error: --agent or --exec is required');

// No top-level await: the image contains a CommonJS bundle.
void runProgram({
  command,
  options: { ...options, tasks: options.types, repos: options.repo, concurrency: options.slots },
  version: manifest.version,
  env: process.env,
  secretEnv: [options.gitTokenEnv],
  keyEnv: [...KEY_VARIABLES, ...options.env],
  handler: (context) =>
    options.exec === undefined
      ? agentWorker(options, context)
      : {
          agents: [],
          handler: execHandler({
            command: options.exec,
            workDir: join(options.workDir, 'exec'),
            concurrency: options.slots,
            taskTimeoutMs: options.taskTimeout,
            killGraceMs: options.killGrace,
            env: context.env,
            user: context.user,
            gitCredentials: true,
            logs: context.logs,
            log: context.log,
          }),
        },
});
