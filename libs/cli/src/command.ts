import type { VcsHost } from '@pipeline/domain';
import type { admin } from '@pipeline/engine';
import { Command } from 'commander';

/** What every command understands. */
export interface Flags {
  json?: boolean;
  /** Who does it, as it is recorded. */
  as?: string;
  reason?: string;
}

/** What a deed has at hand. */
export interface Session {
  /** Who acts, and on which store. */
  admin: admin.Admin;
  /** The use cases. */
  use: typeof admin;
  /** The host of that kind, by the credentials of the environment; null without. */
  hostOf(kind: string): Promise<VcsHost | null>;
  /** Asks for a password without showing it, or reads it from standard input. */
  readPassword(): Promise<string>;
  /** The text of a file; `-` = standard input. */
  readText(file: string): Promise<string>;
}

/** What a command has to say: for programs, and for people. */
export interface Answer {
  data: unknown;
  text: string;
  /** False = the answer is that something is wrong: the command ends with 1. */
  ok?: boolean;
}

export type Deed = (session: Session) => Promise<Answer>;
export type Run = (flags: Flags, deed: Deed) => Promise<void>;

interface Leaf<O> {
  /** Name and arguments: `create <id>`. */
  usage: string;
  description: string;
  /** Whether it changes something, so that it matters who does it and why. */
  writes: boolean;
  /** Options of its own, as commander has them: flags, description. */
  options?: [flags: string, description: string][];
  deed(session: Session, args: string[], options: O): Promise<Answer>;
}

/** A command that does something. Optional arguments that were not given are ''. */
export function leaf<O = object>(parent: Command, run: Run, spec: Leaf<O>): void {
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
    await run(options, (session) => spec.deed(session, args, options));
  });
  parent.addCommand(command);
}

/** A command that only holds others; alone it shows its help. */
export function group(parent: Command, name: string, description: string): Command {
  const command = new Command(name).description(description);
  parent.addCommand(command);
  return command;
}
