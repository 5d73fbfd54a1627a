import type { Command } from 'commander';
import { EXIT } from '../src/command/exit-codes.ts';
import { pipelineProgram } from '../src/program.ts';

const HEAD = `<!-- Generated from libs/cli by \`node libs/cli/scripts/generate.ts\`. Do not edit. -->

# Command line: pipeline

In the repository \`pnpm pipeline …\`, in the images \`pipeline …\`, such as \`docker compose exec monitor pipeline admin org list\`.
\`DATABASE_URL\` names the database; there is no other login, so whoever can reach the database administers the service.

Every command takes \`--json\`: it answers with one JSON document on standard output, and with
\`{"error":{"code","message"}}\` on standard error when it does not end with 0. Commands that change something take \`--as NAME\` and
\`--reason TEXT\`: who does it and why, as it is recorded. Passwords are asked for or read from standard input, and are never
an argument.

| exit status | meaning |
| --- | --- |
| ${EXIT.ok} | done |
| ${EXIT.refused} | refused; the message says why |
| ${EXIT.usage} | the command line is wrong |
| ${EXIT.unavailable} | the database cannot be reached |
| ${EXIT.internal} | an error of the program |
| ${EXIT.config} | a setting is wrong, or the schema does not fit this release |`;

/** What every command that changes something has, told once at the top. */
const TOLD_ABOVE = ['--json', '--as', '--reason'];

/** The reference page: one section for each group of commands, in their order. */
export function cliReference(): string {
  const program = pipelineProgram(async () => undefined);
  const groups = program.commands.flatMap((part) =>
    part.commands.map((one) => ({ name: `${part.name()} ${one.name()}`, one })),
  );
  // Those that do something themselves.
  const single = program.commands.filter(({ commands }) => commands.length === 0);
  return `${[HEAD, ...groups.map(({ name, one }) => section(name, one)), ...single.map(oneCommand)].join('\n\n')}\n`;
}

const TABLE = '| command | what it does |\n| --- | --- |';

function section(name: string, command: Command): string {
  const rows = command.commands.map((leaf) => rowOf(`${name} ${leaf.name()}`, leaf));
  return `## ${name}\n\n${sentence(command.description())}.\n\n${TABLE}\n${rows.join('\n')}`;
}

const oneCommand = (leaf: Command): string => `## ${leaf.name()}\n\n${TABLE}\n${rowOf(leaf.name(), leaf)}`;

function rowOf(name: string, leaf: Command): string {
  const args = leaf.registeredArguments.map((one) => (one.required ? `<${one.name()}>` : `[${one.name()}]`));
  const options = leaf.options
    .filter(({ long }) => !TOLD_ABOVE.includes(long ?? ''))
    .map(({ flags, description }) => `\`${flags}\` ${description}`);
  const usage = ['pipeline', name, ...args].join(' ');
  return `| \`${usage}\` | ${[leaf.description(), ...options].join('<br>').replaceAll('|', '\\|')} |`;
}

const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
