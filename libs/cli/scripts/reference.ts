import type { Command } from 'commander';
import { EXIT } from '../src/command/exit-codes.ts';
import { pipelineProgram } from '../src/program.ts';

const HEAD = `<!-- Generated from libs/cli by \`node libs/cli/scripts/generate.ts\`. Do not edit. -->

# Command line: pipeline

In the repository, run \`npm run -s pipeline -- …\`; in the images, run \`pipeline …\`, for example \`docker compose exec monitor pipeline admin org list\`.
\`admin\`, \`repo\` and \`doctor\` need \`DATABASE_URL\`; there is no other login for them: access to the database grants administration of the service.
\`org\`, \`repos\`, \`issues\`, \`why\`, \`overview\`, \`costs\` and \`watch\` need the address of the hosted API and a login; [customers-cli.md](../customers-cli.md)
describes them. \`login\`, \`logout\` and \`mcp\` need the address only; \`init\` and \`completion\` need neither.

Every command accepts \`--json\`: it prints one JSON document on standard output, or \`{"error":{"code","message"}}\` on
standard error when it exits with another status than 0. Commands with side effects accept \`--as NAME\` and \`--reason TEXT\`, the
actor and the reason recorded in the audit log. Passwords are read from a prompt or from standard input, never from an
argument.

| exit status | meaning |
| --- | --- |
| ${EXIT.ok} | success |
| ${EXIT.refused} | rejected; the message states the reason |
| ${EXIT.usage} | invalid command line |
| ${EXIT.unavailable} | the database, the version-control host or the hosted API is not available |
| ${EXIT.internal} | internal error |
| ${EXIT.notLoggedIn} | there is no login, or it has ended; run \`pipeline login\` |
| ${EXIT.config} | invalid setting, or the schema does not match this release |`;

/** Options described in the page header and omitted from the tables. */
const TOLD_ABOVE = ['--json', '--as', '--reason'];

/** Returns the reference page: one section per command group, in declaration order. */
export function cliReference(): string {
  const program = pipelineProgram({ run: async () => undefined, runLocal: async () => undefined });
  const groups = program.commands.flatMap((part) => groupsOf(part.name(), part));
  const single = program.commands.filter(isExecutable);
  return `${[HEAD, ...groups.map(({ name, group }) => section(name, group)), ...single.map(oneCommand)].join('\n\n')}\n`;
}

const isExecutable = ({ commands }: Command): boolean => commands.length === 0;

interface Group {
  name: string;
  group: Command;
}

/** The command and its subcommands, as far as they have executable commands of their own. */
function groupsOf(name: string, group: Command): Group[] {
  const below = group.commands.flatMap((one) => groupsOf(`${name} ${one.name()}`, one));
  return group.commands.some(isExecutable) ? [{ name, group }, ...below] : below;
}

const TABLE = '| command | description |\n| --- | --- |';

function section(name: string, command: Command): string {
  const rows = command.commands.filter(isExecutable).map((leaf) => rowOf(`${name} ${leaf.name()}`, leaf));
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
