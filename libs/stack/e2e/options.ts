import { resolve } from 'node:path';
import { UsageCommand } from '@pipeline/worker';
import { type Command, InvalidArgumentError } from 'commander';

export interface E2eOptions {
  /** Names of checks, in the order in which they run. */
  checks: readonly string[];
  seed: number;
  runs: number;
  /** undefined = a temporary folder for each check. */
  dataDir: string | undefined;
  issues: number | null;
  events: number | null;
  minutes: number | null;
  rate: number | null;
  from: string | null;
}

function positive(value: string): number {
  const number = Number(value);
  if (/^\d+(\.\d+)?$/.test(value) && number > 0) return number;
  throw new InvalidArgumentError('must be a number above 0.');
}

function whole(value: string): number {
  if (/^\d{1,15}$/.test(value)) return Number(value);
  throw new InvalidArgumentError('must be a whole number.');
}

function wholeAbove0(value: string): number {
  if (whole(value) > 0) return whole(value);
  throw new InvalidArgumentError('must be a whole number above 0.');
}

const AFTER = `
libs/stack/README.md describes each check. Exit status: 0 all passed, 1 one failed, 2 wrong usage.`;

/** The command line of `npm run e2e`. */
function e2eCommand(all: readonly string[], usual: readonly string[]): Command {
  return new UsageCommand('npm run e2e --')
    .description('Starts the product and checks it from outside.')
    .argument('[check...]', `${all.join(', ')} (default: ${usual.join(', ')})`)
    .option('--seed <n>', 'order of the kills of crash, data of generated histories (default: random)', whole)
    .option('--runs <n>', 'perform each check n times and print the medians of its figures', wholeAbove0, 1)
    .option('--data-dir <dir>', 'keep the data in a folder for each check; history reuses it', (dir) => resolve(dir))
    .option('--issues <n>', 'issues of history and throughput', wholeAbove0)
    .option('--events <n>', 'pipeline events of the history of retention', wholeAbove0)
    .option('--minutes <n>', 'length of soak, or of the load before the deletion in retention', positive)
    .option('--rate <n>', 'multiple of the usual load of soak and retention', positive)
    .option('--from <commit>', 'version that upgrade begins with, or with which throughput compares')
    .addHelpText('after', AFTER);
}

/** The options as given. Prints the usage for --help, and an error for wrong usage; both end the process. */
export function e2eOptions(args: readonly string[], all: readonly string[], usual: readonly string[]): E2eOptions {
  const command = e2eCommand(all, usual).parse(args, { from: 'user' });
  const unknown = command.args.filter((name) => !all.includes(name));
  if (unknown.length > 0) command.error(`error: ${unknown.join(', ')}: the checks are ${all.join(', ')}`);
  const given = command.opts<Partial<E2eOptions>>();
  return {
    checks: command.args.length > 0 ? command.args : usual,
    seed: given.seed ?? Date.now() % 1_000_000,
    runs: given.runs ?? 1,
    dataDir: given.dataDir,
    issues: given.issues ?? null,
    events: given.events ?? null,
    minutes: given.minutes ?? null,
    rate: given.rate ?? null,
    from: given.from ?? null,
  };
}
