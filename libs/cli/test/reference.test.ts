import { expect, test } from '@jest/globals';
import type { Command } from 'commander';
import { cliReference } from '../scripts/reference.ts';
import { pipelineProgram } from '../src/program.ts';

const reference = cliReference();
const program = pipelineProgram({ run: async () => undefined, runLocal: async () => undefined });

/** Every executable command with its full name. */
const leaves = (command: Command, name: string): [string, Command][] =>
  command.commands.length === 0
    ? [[name, command]]
    : command.commands.flatMap((one) => leaves(one, `${name} ${one.name()}`));

test.each(leaves(program, 'pipeline'))('the reference lists the options of %s', (name, command) => {
  const row = reference.split('\n').find((line) => new RegExp(`^\\| \`${name}[\` ]`).test(line));
  const flags = command.options.filter(({ long }) => !['--json', '--as', '--reason'].includes(long ?? ''));
  expect(flags.filter((option) => !row?.includes(`\`${option.flags}\``))).toEqual([]);
  expect(row).toContain(command.description().replaceAll('|', '\\|'));
});

test('the reference has no empty table', () => {
  expect(reference.match(/\| --- \| --- \|\n(?!\|)/g)).toBeNull();
});
