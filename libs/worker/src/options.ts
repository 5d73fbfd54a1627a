import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseSlug, TASK_TYPES, type TaskType } from '@pipeline/domain';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { UsageCommand } from './usage-command.ts';

export interface RunnerOptions {
  server: string;
  tokenEnv: string;
  tokenFd?: number;
  tasks: TaskType[];
  repos: string[];
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
const UNIT_MS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

const list = (value: string): string[] =>
  value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');

function taskTypes(value: string): TaskType[] {
  const known = (item: string): item is TaskType => (TASK_TYPES as readonly string[]).includes(item);
  const items = list(value);
  if (items.length > 0 && items.every(known)) return [...new Set(items)];
  throw new InvalidArgumentError(`must be a list like develop,review of: ${TASK_TYPES.join(', ')}.`);
}

function repos(value: string): string[] {
  const items = list(value);
  if (items.every((item) => parseSlug(item))) return items;
  throw new InvalidArgumentError('must be a list like owner/name,owner/other.');
}

/** Milliseconds. @throws InvalidArgumentError for anything but a number with ms, s, m or h. */
export function duration(value: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(value);
  const ms = Number(match?.[1]) * (UNIT_MS[match?.[2] ?? ''] ?? Number.NaN);
  // Timers take 31 bits.
  if (ms > 0 && ms < 2 ** 31) return Math.ceil(ms);
  throw new InvalidArgumentError('must be a time like 90s, 30m or 2h, at most 24 days.');
}

const time = (flags: string, description: string, byDefault: string): Option =>
  new Option(flags, description).argParser(duration).default(duration(byDefault), byDefault);

function concurrency(value: string): number {
  const number = Number(value);
  if (Number.isInteger(number) && number >= 1 && number <= MAX_CONCURRENCY) return number;
  throw new InvalidArgumentError(`must be a whole number from 1 to ${MAX_CONCURRENCY}.`);
}

function descriptor(value: string): number {
  const number = Number(value);
  // 1 and 2 are written to.
  if (/^\d+$/.test(value) && number < 1_024 && number !== 1 && number !== 2) return number;
  throw new InvalidArgumentError('must be the number of an open descriptor, such as 3.');
}

function address(value: string): string {
  if (URL.canParse(value) && /^https?:/.test(value)) return value;
  throw new InvalidArgumentError('must be an address like https://pipeline.example.org.');
}

function level(value: string): RunnerOptions['logLevel'] {
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
    .description('Turns any program into a worker of the pipeline.')
    .version(version)
    .requiredOption('--server <url>', 'address of the hosted API', address)
    .option('--token-env <name>', 'environment variable that holds the worker token', 'WORKER_TOKEN')
    .option('--token-fd <n>', 'read the worker token from this open file descriptor instead', descriptor)
    .requiredOption('--tasks <types>', `which tasks to take: ${TASK_TYPES.join(', ')}`, taskTypes)
    .addOption(
      new Option('--repos <slugs>', 'only these, owner/name,…')
        .argParser(repos)
        .default([] as string[], 'all that the token reaches'),
    )
    .requiredOption('--exec <command>', 'the program, run by the shell once per task')
    .option('--user <name>', 'run the program as this user; the runner must be root')
    .option('--name <name>', 'unique name of this worker', `${hostname()}-${process.pid}`)
    .option('--concurrency <n>', 'tasks at a time', concurrency, 1)
    .option('--work-dir <path>', 'kept from task to task; one folder per slot (default: in the temporary folder)')
    .addOption(time('--task-timeout <time>', 'longest run of the program', '30m'))
    .addOption(time('--kill-grace <time>', 'from SIGTERM to SIGKILL for a program that has to end', '5s'))
    .option('--no-git-credentials', 'do not ask the service for git credentials: git has its own')
    .option('--log-dir <path>', 'also write the programs’ output to <agent>.log in this folder')
    .option('--log-level <level>', 'of the runner’s own log', level, 'info')
    .option('--once', 'leave after one task', false)
    .addHelpText('after', AFTER);
}

/** The options as given, defaults filled in. */
export function runnerOptions(command: Command): RunnerOptions {
  const options = command.opts<Omit<RunnerOptions, 'workDir'> & { workDir?: string }>();
  const folder = options.name.replace(/[^A-Za-z0-9._-]+/g, '-');
  return {
    ...options,
    workDir: options.workDir ?? join(tmpdir(), 'pipeline-worker', folder),
    concurrency: options.once ? 1 : options.concurrency,
  };
}
