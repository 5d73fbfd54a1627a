import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { isAbsolute } from 'node:path';
import { AgentName, TASK_TYPES, type TaskType } from '@pipeline/domain';
import {
  address,
  concurrency,
  defaultWorkDir,
  descriptor,
  level,
  type RunnerOptions,
  repos,
  taskTypes,
  time,
  UsageCommand,
} from '@pipeline/worker';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { AGENTS } from './agents/presets.ts';
import { SANDBOXES, type SandboxChoice } from './sandbox/choose-sandbox.ts';
import { ACCELS, type Accel } from './sandbox/vm.ts';

export interface AgentOptions
  extends Pick<RunnerOptions, 'server' | 'tokenEnv' | 'tokenFd' | 'user' | 'name' | 'workDir' | 'logDir' | 'logLevel'> {
  types: TaskType[];
  repo: string[];
  slots: number;
  agent?: string;
  agentName?: string;
  exec?: string;
  model?: string;
  mode?: string;
  config?: string;
  maxTurns?: number;
  budget?: number;
  taskTimeout: number;
  setupTimeout: number;
  killGrace: number;
  depth: number;
  sandbox: SandboxChoice;
  vmImage: string;
  vmAccel: Accel;
  sandboxRead: string[];
  egress?: string;
  env: string[];
  gitTokenEnv: string;
  check: boolean;
  once: boolean;
}

function count(value: string): number {
  const number = Number(value);
  if (Number.isInteger(number) && number >= 1 && number <= 1_000_000) return number;
  throw new InvalidArgumentError('must be a whole number from 1.');
}

function amount(value: string): number {
  const number = Number(value);
  if (value.trim() !== '' && number > 0 && number <= 100_000) return number;
  throw new InvalidArgumentError('must be an amount in USD like 2.50.');
}

function folders(value: string, others: readonly string[]): string[] {
  if (!isAbsolute(value)) throw new InvalidArgumentError('must be an absolute path.');
  if (!existsSync(value)) throw new InvalidArgumentError('does not exist.');
  return [...others, value];
}

function variables(value: string): string[] {
  const names = value.split(',').map((name) => name.trim());
  if (names.every((name) => /^[A-Za-z_]\w*$/.test(name))) return names;
  throw new InvalidArgumentError('must be a list like ANTHROPIC_API_KEY,NPM_TOKEN.');
}

const AFTER = `
The agent works in a git work tree of its own for each task. It has no credentials for the repository: pipeline-agent
commits and pushes its files. Merge tasks and code maps need no agent. docs/agents.md describes agents, prompts,
permissions and sandboxes.
Exit status: 0 done, 1 the worker failed, 2 wrong usage, 78 wrong setting, missing agent or key, or refused token.`;

function agentName(value: string): string {
  if (AgentName.safeParse(value).success) return value;
  throw new InvalidArgumentError('must have 1 to 100 characters, without blanks at the ends.');
}

/** The command line of `pipeline-agent`. */
export function agentCommand(version: string): Command {
  const all = [...TASK_TYPES];
  return new UsageCommand('pipeline-agent')
    .description('Runs coding agents of the Agent Client Protocol as a worker of the pipeline.')
    .version(version)
    .requiredOption('--server <url>', 'base URL of the hosted API', address)
    .option('--token-env <name>', 'environment variable with the worker token', 'WORKER_TOKEN')
    .option('--token-fd <n>', 'read the worker token from this open file descriptor instead', descriptor)
    .option('--agent <agent>', `${Object.keys(AGENTS).join(', ')}, or the command of another agent`)
    .addOption(
      new Option('--exec <command>', 'run this command for each task instead, see pipeline-worker').conflicts('agent'),
    )
    .addOption(new Option('--types <types>', 'task types to claim').argParser(taskTypes).default(all, 'all'))
    .addOption(
      new Option('--repo <slugs>', 'limit to these repos, owner/name,…')
        .argParser(repos)
        .default([] as string[], 'all that the token reaches'),
    )
    .option('--slots <n>', 'number of concurrent tasks', concurrency, 1)
    .option('--agent-name <name>', 'name of the agent in reports and comparisons (default: that of --agent)', agentName)
    .option('--model <model>', 'model of the agent (default: that of the agent)')
    .option('--mode <mode>', 'session mode of the agent (default: one that requests permissions)')
    .option('--config <path>', 'YAML file with routes, permissions, prices and the identity of commits')
    .option('--max-turns <n>', 'maximum turns of the model per task', count)
    .option('--budget <usd>', 'maximum cost of a task in USD', amount)
    .addOption(time('--task-timeout <time>', 'time limit of the agent per task', '45m'))
    .addOption(time('--setup-timeout <time>', 'time limit of the setup command of a repository', '15m'))
    .addOption(time('--kill-grace <time>', 'time between cancel, SIGTERM and SIGKILL', '5s'))
    .option('--depth <n>', 'commits of history in the work tree', count, 50)
    .addOption(
      new Option('--sandbox <name>', 'confinement of the agent; auto requires bubblewrap, none must be written')
        .choices(SANDBOXES)
        .default('auto'),
    )
    .addOption(
      new Option('--sandbox-read <folder>', 'further folder that a confined agent may read; repeat for more')
        .argParser(folders)
        .default([] as string[], 'none'),
    )
    .option('--vm-image <folder>', 'image of the virtual machines of --sandbox vm', '/var/lib/pipeline/vm')
    .addOption(
      new Option('--vm-accel <name>', 'how virtual machines run; tcg emulates the processor, ten times slower')
        .choices(ACCELS)
        .default('kvm'),
    )
    .option('--egress <file>', 'file with the hosts that confined agents may connect to, one per line (default: all)')
    .option('--user <name>', 'run the agent as this user; requires root')
    .addOption(
      new Option('--env <names>', 'further environment variables that the agent gets')
        .argParser(variables)
        .default([] as string[], 'none'),
    )
    .option('--git-token-env <name>', 'variable with a token for git, used when the service has none', 'GIT_TOKEN')
    .option('--no-check', 'do not start the agent once before the first task')
    .option('--name <name>', 'unique name of this worker', `${hostname()}-${process.pid}`)
    .option('--work-dir <path>', 'directory of mirrors and work trees (default: in the temporary directory)')
    .option('--log-dir <path>', 'also write logs of --exec programs to <agent>.log in this directory')
    .option('--log-level <level>', 'log level', level, 'info')
    .option('--once', 'exit after one task', false)
    .addHelpText('after', AFTER);
}

/** Returns the parsed options with defaults. */
export function agentOptions(command: Command): AgentOptions {
  const options = command.opts<Omit<AgentOptions, 'workDir'> & { workDir?: string }>();
  return {
    ...options,
    workDir: options.workDir ?? defaultWorkDir('pipeline-agent', options.name),
    slots: options.once ? 1 : options.slots,
  };
}
