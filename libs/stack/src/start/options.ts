import { join, resolve } from 'node:path';
import { UsageCommand } from '@pipeline/worker';
import { type Command, InvalidArgumentError } from 'commander';
import { ROOT } from '../children/context.ts';

export interface StackOptions {
  fresh: boolean;
  demo: boolean;
  json: boolean;
  dataDir: string;
  /** undefined = the embedded Postgres. */
  databaseUrl: string | undefined;
  /** undefined = the repos of earlier starts, else this project. */
  repo: string | undefined;
  workers: number;
  issues: number;
}

const MAX_WORKERS = 20;
const MAX_ISSUES = 30;

const whole = (min: number, max: number) => (value: string) => {
  const number = Number(value);
  if (/^\d+$/.test(value) && number >= min && number <= max) return number;
  throw new InvalidArgumentError(`must be a whole number from ${min} to ${max}.`);
};

function postgresUrl(value: string): string {
  if (URL.canParse(value) && /^postgres(ql)?:$/.test(new URL(value).protocol)) return value;
  throw new InvalidArgumentError('must be an address like postgres://user:password@host:5432/database.');
}

const AFTER = `
Environment: HOSTED_PORT (8080), MONITOR_PORT (8090), SANDBOX_PORT (8070), POSTGRES_PORT (0); 0 = any free port.
Limits of requests, such as CONNECTION_RATE_LIMIT or REQUESTS_PER_MINUTE, are passed to the services.
The demo fleet is a simulation: scripted agents and people, whose commits, reviews and merges are real.
Exit status: 0 stopped, 1 it failed, 2 wrong usage, 78 wrong setting or data that cannot be used.`;

/** The command line of `npm start`. */
export const stackCommand = (): Command =>
  new UsageCommand('npm start --')
    .description(
      'Runs the whole product on this machine: Postgres, a version-control host, both services, a demo fleet.',
    )
    .option('--fresh', 'start over: removes the data of earlier runs', false)
    .option('--database-url <url>', 'use this Postgres, 15 or newer, instead of the embedded one', postgresUrl)
    .option('--no-demo', 'start without the demo fleet and its issues')
    .option('--data-dir <dir>', 'data directory', (dir) => resolve(dir), join(ROOT, '.data'))
    .option('--repo <path>', 'serve this git repository (default: this project)', (path) => resolve(path))
    .option('--workers <n>', 'number of demo workers', whole(1, MAX_WORKERS), 2)
    .option('--issues <n>', 'number of demo issues', whole(1, MAX_ISSUES), MAX_ISSUES)
    .option('--json', 'print one line of JSON on standard output when ready, logs on standard error', false)
    .allowExcessArguments(false)
    .addHelpText('after', AFTER);

/** The options as given. @throws CommanderError for two that exclude each other; it ends the process. */
export function stackOptions(command: Command): StackOptions {
  const { databaseUrl, repo, ...rest } = command.opts<StackOptions>();
  if (rest.fresh && databaseUrl !== undefined) {
    command.error(
      'error: --fresh removes what is in the data folder, not what is in a database of yours: drop its schema ' +
        '"pipeline" yourself, then start without --fresh in a new --data-dir',
    );
  }
  return { ...rest, databaseUrl, repo };
}
