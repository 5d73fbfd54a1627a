import type { HostDiagnostics, VcsHost } from '@pipeline/domain';
import type { admin } from '@pipeline/engine';
import { Command } from 'commander';
import type { Streams } from './streams.ts';

/** Options of every command. */
export interface Flags {
  json?: boolean;
  /** Actor recorded in the audit log. */
  as?: string;
  reason?: string;
}

/** Context of a running command. */
export interface Session {
  /** Actor and store. */
  admin: admin.Admin;
  /** The use cases. */
  use: typeof admin;
  /** Returns the host client of a kind, using the credentials of the environment; null without credentials. */
  hostOf(kind: string): Promise<VcsHost | null>;
  /** Connects like `hostOf`, for diagnosis. */
  diagnosticsOf(kind: string): Promise<HostDiagnostics | null>;
  /** Prompts for a password without echo, or reads it from standard input. */
  readPassword(): Promise<string>;
  /** Returns the text of a file; `-` = standard input. */
  readText(file: string): Promise<string>;
}

/** Result of a command as JSON data and as text. */
export interface Answer {
  data: unknown;
  text: string;
  /** False = the check failed; the command exits with 1. */
  ok?: boolean;
  /** True = the command has written its output itself. */
  isPrinted?: boolean;
}

/** Context of a command that needs no database. */
export interface LocalSession {
  env: Readonly<Record<string, string | undefined>>;
  streams: Streams;
  /** --json was given. */
  isJson: boolean;
}

export type CommandAction<S = Session> = (session: S) => Promise<Answer>;
export type Run<S = Session> = (flags: Flags, action: CommandAction<S>) => Promise<void>;

/** Functions that execute the commands. */
export interface Runners {
  /** Opens the database of DATABASE_URL. */
  run: Run;
  runLocal: Run<LocalSession>;
}

interface Leaf<O, S> {
  /** Name and arguments: `create <id>`. */
  usage: string;
  description: string;
  /** True = the command has side effects; adds the options --as and --reason. */
  writes: boolean;
  /** Options of the command in the form of commander: flags, description. */
  options?: [flags: string, description: string][];
  action(session: S, args: string[], options: O & Flags): Promise<Answer>;
}

/** Adds an executable command. Omitted optional arguments are ''. */
export function leaf<O = object, S = Session>(parent: Command, run: Run<S>, spec: Leaf<O, S>): void {
  const command = new Command(spec.usage.split(' ')[0]).description(spec.description);
  for (const argument of spec.usage.split(' ').slice(1)) command.argument(argument);
  for (const [flags, description] of spec.options ?? []) {
    if (description.startsWith('needed: ')) command.requiredOption(flags, description.slice('needed: '.length));
    else command.option(flags, description);
  }
  if (spec.writes) {
    command.option('--as <name>', 'actor recorded in the audit log (default: the operating system user)');
    command.option('--reason <text>', 'reason recorded in the audit log');
  }
  command.option('--json', 'print the result and errors as JSON');
  command.action(async () => {
    const options = command.opts<Flags & O>();
    const args = command.processedArgs.map((value) => (typeof value === 'string' ? value : ''));
    await run(options, (session) => spec.action(session, args, options));
  });
  parent.addCommand(command);
}

/** Adds a command group; without a subcommand it prints its help. */
export function group(parent: Command, name: string, description: string): Command {
  const command = new Command(name).description(description);
  parent.addCommand(command);
  return command;
}
