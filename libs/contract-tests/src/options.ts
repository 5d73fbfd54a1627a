import { Command, InvalidArgumentError, Option } from 'commander';
import { CHECK_SUITES } from './checks/check.ts';

/** Suites that may be run: those of checks, and the property suite. */
export const SUITES = [...CHECK_SUITES, 'property'] as const;
export type Suite = (typeof SUITES)[number];

export interface ContractOptions {
  hosted?: string;
  token?: string;
  tokenEnv: string;
  clientId?: string;
  clientSecretEnv: string;
  loginEmail?: string;
  loginPasswordEnv: string;
  workerTokenEnv: string;
  webhookSecretEnv: string;
  refusedTokenEnv: string[];
  monitor?: string;
  user?: string;
  passwordEnv: string;
  runs: number;
  seed: number;
  only: string[];
  skip: [endpoint: string, reason: string][];
  suite: Suite[];
  /** A repo that may be changed; true = the whole target may be. */
  write: string | boolean;
  concurrency: number;
  guesses: number;
  timeout: number;
  longestRetry: number;
  json?: string;
  junit?: string;
  markdown?: string;
  badge?: string;
}

/** Exit statuses, documented in `--help`. */
export const EXIT = { ok: 0, findings: 1, usage: 2, config: 78 } as const;

const whole = (min: number, max: number) => (value: string) => {
  const number = Number(value);
  if (/^-?\d+$/.test(value) && number >= min && number <= max) return number;
  throw new InvalidArgumentError(`must be a whole number from ${min} to ${max}.`);
};

function address(value: string): string {
  if (URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)) return value;
  throw new InvalidArgumentError('must be an address like https://pipeline.example.org.');
}

function slug(value: string): string {
  if (/^[^/\s]+\/[^/\s]+$/.test(value)) return value;
  throw new InvalidArgumentError('must be a repo, owner/name.');
}

function skipped(value: string, before: [string, string][]): [string, string][] {
  const [endpoint = '', ...reason] = value.split('=');
  if (endpoint !== '' && reason.join('=').trim() !== '') return [...before, [endpoint, reason.join('=').trim()]];
  throw new InvalidArgumentError('must be ENDPOINT=REASON, such as listLogs=no log folder.');
}

const repeated = (value: string, before: string[]): string[] => [...before, value];

const AFTER = `
Endpoints are named by their operationId. Secrets are read from environment variables, or from the file that
NAME_FILE names; a token on the command line is
visible to every user of the machine. Nothing is changed without --write, but that --login-email has a user log in, allow a
program of the run and end its connections. With --write owner/name, a track, issues and tasks of that
repo are changed and restored, and nothing else is. --write alone sends requests that change anything: point it at a scratch target only.

Exit status: 0 nothing found, 1 findings, 2 wrong usage, 78 a target that does not answer or refuses the credentials.`;

/** Ends with 2 on wrong usage, unless another status is given. */
class UsageCommand extends Command {
  override error(message: string, options?: Parameters<Command['error']>[1]): never {
    // Commander gives 1 for a wrong value of an option.
    const { exitCode = 1 } = options ?? {};
    super.error(message, { ...options, exitCode: exitCode === 1 ? EXIT.usage : exitCode });
  }
}

/** The command line of `pipeline-contract`. */
export function contractCommand(version: string): Command {
  return new UsageCommand('pipeline-contract')
    .description('Tests a running hosted API, a running monitor, or both against the declared contract.')
    .version(version)
    .option('--hosted <url>', 'address of the hosted API', address)
    .option('--token <token>', 'access token of a connection')
    .option('--token-env <name>', 'variable that holds the access token', 'PIPELINE_TOKEN')
    .option('--client-id <id>', 'client that gets access tokens by client credentials (default: PIPELINE_CLIENT_ID)')
    .option('--client-secret-env <name>', 'variable that holds its secret', 'PIPELINE_CLIENT_SECRET')
    .option('--login-email <email>', 'user who logs in at the hosted API, for the checks of the OAuth life')
    .option('--login-password-env <name>', 'variable that holds the user’s password', 'PIPELINE_LOGIN_PASSWORD')
    .option('--worker-token-env <name>', 'variable that holds a worker token', 'PIPELINE_WORKER_TOKEN')
    .option('--webhook-secret-env <name>', 'variable that holds the webhook secret', 'PIPELINE_WEBHOOK_SECRET')
    .option('--refused-token-env <name>', 'variable with a token that must be refused; repeatable', repeated, [])
    .option('--monitor <url>', 'address of the monitor', address)
    .option('--user <name>', 'operator of the monitor')
    .option('--password-env <name>', 'variable that holds the operator’s password', 'MONITOR_PASSWORD')
    .option('--runs <n>', 'requests to send, over all endpoints', whole(1, 100_000_000), 5_000)
    .option(
      '--seed <n>',
      'the same seed makes the same requests (default: random, printed)',
      whole(-(2 ** 31), 2 ** 31 - 1),
    )
    .option('--only <endpoint...>', 'these endpoints only', [])
    .option('--skip <endpoint=reason>', 'leave an endpoint out; repeatable', skipped, [])
    .addOption(new Option('--suite <name...>', 'these suites only').choices(SUITES).default([...SUITES], 'all'))
    .option(
      '--write [owner/name]',
      'change a scratch repo; without a name, send requests that change the whole target',
      slug,
    )
    .option('--concurrency <n>', 'requests at a time', whole(1, 100), 4)
    .option('--guesses <n>', 'wrong passwords to send at most, because of login limits', whole(0, 100_000_000), 5)
    .option('--timeout <ms>', 'until an answer must be complete', whole(100, 600_000), 30_000)
    .option('--longest-retry <s>', 'longest Retry-After to wait for', whole(0, 3_600), 90)
    .option('--json <file>', 'also write the result to this file')
    .option('--junit <file>', 'also write the result as JUnit XML')
    .option('--markdown <file>', 'also append the result as Markdown, for the summary of a job')
    .option('--badge <file>', 'also write a badge: a picture for a name in .svg, else an endpoint of shields.io')
    .allowExcessArguments(false)
    .addHelpText('after', AFTER);
}
