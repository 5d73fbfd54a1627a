import { randomBytes } from 'node:crypto';
import type { Flags } from '../command/command.ts';
import { UsageError } from '../command/errors.ts';
import { hostOf, urlOf, wholeNumber } from '../command/values.ts';

/** Options of `pipeline init` as commander returns them. */
export interface InitOptions extends Flags {
  host?: string;
  org?: string;
  name?: string;
  webhookUrl?: string;
  file?: string;
  force?: boolean;
  print?: boolean;
  port?: string;
  timeout?: string;
  /** false with --no-open. */
  open: boolean;
}

export interface InitSettings {
  host: string;
  org: string | null;
  name: string;
  webhookUrl: string | null;
  /** null = print the variables. */
  file: string | null;
  force: boolean;
  /** 0 = any free port. */
  port: number;
  timeoutMinutes: number;
  open: boolean;
}

const MAX_NAME = 34;

/** @throws UsageError naming the option. */
export function readOptions(options: InitOptions, isTerminal: boolean): InitSettings {
  const { org = null, print = false, force = false, open } = options;
  if (print && (force || options.file !== undefined)) {
    throw new UsageError('--print stores nothing: omit --file and --force');
  }
  if (open && !isTerminal) {
    throw new UsageError(
      'a person must confirm the GitHub App in a browser, and standard input is not a terminal: --no-open prints the address and waits',
    );
  }
  if (org !== null && !/^[\w.-]{1,100}$/.test(org)) throw new UsageError(`--org must be a login, got "${org}"`);
  return {
    org,
    force,
    open,
    name: nameOf(options),
    host: hostOf(options.host ?? 'https://github.com'),
    webhookUrl: options.webhookUrl === undefined ? null : urlOf('--webhook-url', options.webhookUrl).href,
    file: print ? null : (options.file ?? 'github-app.env'),
    port: wholeNumber('--port', options.port ?? '0', [0, 65_535]),
    timeoutMinutes: wholeNumber('--timeout', options.timeout ?? '10', [1, 60]),
  };
}

/** The default is unlikely to be taken: names are unique on the host. */
function nameOf({ name, org }: InitOptions): string {
  if (name === undefined) return `pipeline-${org ?? randomBytes(4).toString('hex')}`.slice(0, MAX_NAME);
  const trimmed = name.trim();
  if (trimmed !== '' && trimmed.length <= MAX_NAME) return trimmed;
  throw new UsageError(`--name must have 1 to ${MAX_NAME} characters, got ${trimmed.length}`);
}
