import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { AgentName, parseSlug, TASK_TYPES, type TaskType } from '@pipeline/domain';
import { Command, InvalidArgumentError, Option } from 'commander';

const EXIT_USAGE = 2;

export interface RunnerOptions {
  server: string;
  tokenEnv: string;
  tokenFd?: number;
  tasks: TaskType[];
  repos: string[];
  agents: string[];
  exec: string;
  user?: string;
  name: string;
  concurrency: number;
  workDir: string;
  taskTimeout: number;
  killGrace: number;
  gitCredentials: boolean;
  logDir?: string;
  logLevel: 'debug' | 'info' | 'warn' | 'error';
  once: boolean;
}

const MAX_CONCURRENCY = 100;
const MAX_AGENTS = 20;
const UNIT_MS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

const list = (value: string): string[] =>
  value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');

export function taskTypes(value: string): TaskType[] {
  const known = (item: string): item is TaskType => (TASK_TYPES as readonly string[]).includes(item);
  const items = list(value);
  if (items.length > 0 && items.every(known)) return [...new Set(items)];
  throw new InvalidArgumentError(`must be a list like develop,review of: ${TASK_TYPES.join(', ')}.`);
}

export function repos(value: string): string[] {
  const items = list(value);
  if (items.every((item) => parseSlug(item))) return items;
  throw new InvalidArgumentError('must be a list like owner/name,owner/other.');
}

export function agents(value: string): string[] {
  const items = list(value);
  if (items.length > 0 && items.length <= MAX_AGENTS && items.every((item) => AgentName.safeParse(item).success))
    return [...new Set(items)];
  throw new InvalidArgumentError(`must be a list like claude,codex of at most ${MAX_AGENTS} names.`);
}

/** Parses a duration to milliseconds. @throws InvalidArgumentError unless it is a number with ms, s, m or h. */
export function duration(value: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(value);
  const ms = Number(match?.[1]) * (UNIT_MS[match?.[2] ?? ''] ?? Number.NaN);
  // Timers take 31 bits.
  if (ms > 0 && ms < 2 ** 31) return Math.ceil(ms);
  throw new InvalidArgumentError('must be a time like 90s, 30m or 2h, at most 24 days.');
}

export const time = (flags: string, description: string, byDefault: string): Option =>
  new Option(flags, description).argParser(duration).default(duration(byDefault), byDefault);

export function concurrency(value: string): number {
  const number = Number(value);
  if (Number.isInteger(number) && number >= 1 && number <= MAX_CONCURRENCY) return number;
  throw new InvalidArgumentError(`must be a whole number from 1 to ${MAX_CONCURRENCY}.`);
}

export function descriptor(value: string): number {
  const number = Number(value);
  // 1 and 2 are output streams.
  if (/^\d+$/.test(value) && number < 1_024 && number !== 1 && number !== 2) return number;
  throw new InvalidArgumentError('must be the number of an open descriptor, such as 3.');
}

export function address(value: string): string {
  if (URL.canParse(value) && /^https?:/.test(value)) return value;
  throw new InvalidArgumentError('must be an address like https://pipeline.example.org.');
}

export function level(value: string): RunnerOptions['logLevel'] {
  if (value === 'debug' || value === 'info' || value === 'warn' || value === 'error') return value;
  throw new InvalidArgumentError('must be one of debug, info, warn, error.');
}

const AFTER = `
The program gets the task as JSON on stdin and prints JSON lines on stdout, each with a "type": progress, message,
artefact, finding, invocation, log, outcome or failure. The last outcome or failure decides; without one exit code 0 is
the task's default outcome, 75 a quota to wait for, anything else a failure that is tried again. See README.md.
Exit status: 0 done, 1 the worker failed, 2 wrong usage, 78 wrong setting or refused token.`;

/** The command line of `pipeline-worker`. */
export function runnerCommand(version: string): Command {
  return new UsageCommand('pipeline-worker')
    .description('Runs any program as a worker of the pipeline.')
    .version(version)
    .requiredOption('--server <url>', 'base URL of the hosted API', address)
    .option('--token-env <name>', 'environment variable with the worker token', 'WORKER_TOKEN')
    .option('--token-fd <n>', 'read the worker token from this open file descriptor instead', descriptor)
    .requiredOption('--tasks <types>', `task types to claim: ${TASK_TYPES.join(', ')}`, taskTypes)
    .addOption(
      new Option('--repos <slugs>', 'limit to these repos, owner/name,…')
        .argParser(repos)
        .default([] as string[], 'all that the token reaches'),
    )
    .addOption(
      new Option('--agents <names>', 'agents that the program runs, for repos that compare agents')
        .argParser(agents)
        .default([] as string[], 'none'),
    )
    .requiredOption('--exec <command>', 'command to run once per task, through the shell')
    .option('--user <name>', 'run the program as this user; requires root')
    .option('--name <name>', 'unique name of this worker', `${hostname()}-${process.pid}`)
    .option('--concurrency <n>', 'number of concurrent tasks', concurrency, 1)
    .option(
      '--work-dir <path>',
      'working directory, kept between tasks, with one folder per slot (default: in the temporary directory)',
    )
    .addOption(time('--task-timeout <time>', 'timeout of the program', '30m'))
    .addOption(time('--kill-grace <time>', 'time between SIGTERM and SIGKILL when the program is stopped', '5s'))
    .option('--no-git-credentials', 'do not request git credentials from the service; use those of git')
    .option('--log-dir <path>', 'also write the output of the program to <agent>.log in this directory')
    .option('--log-level <level>', 'log level of the runner', level, 'info')
    .option('--once', 'exit after one task', false)
    .addHelpText('after', AFTER);
}

/** Returns the default work directory of a program and a worker name: in a folder of this user, see `makeWorkFolder`. */
export const defaultWorkDir = (program: string, name: string): string =>
  join(tmpdir(), `${program}-${process.getuid?.() ?? 0}`, name.replace(/^\.+|[^A-Za-z0-9._-]+/g, '-'));

/** Returns the parsed options with defaults. */
export function runnerOptions(command: Command): RunnerOptions {
  const options = command.opts<Omit<RunnerOptions, 'workDir'> & { workDir?: string }>();
  return {
    ...options,
    workDir: options.workDir ?? defaultWorkDir('pipeline-worker', options.name),
    concurrency: options.once ? 1 : options.concurrency,
  };
}

/** A command that ends with 2 on wrong usage, unless another code is given. Commander alone gives 1. */
export class UsageCommand extends Command {
  override error(message: string, options?: Parameters<Command['error']>[1]): never {
    const { exitCode = 1 } = options ?? {};
    super.error(message, { ...options, exitCode: exitCode === 1 ? EXIT_USAGE : exitCode });
  }
}
