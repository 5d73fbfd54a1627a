import { spawnSync } from 'node:child_process';
import { closeSync, openSync, readSync } from 'node:fs';
import { basename } from 'node:path';
import { findProgram } from './problems.ts';

type Command = readonly [string, ...string[]];

/** Turns off the inspector, which any process of the same user can start with SIGUSR1 to run code in the program. */
const NO_INSPECTOR = '--disable-sigusr1';
const SHEBANG = /^#!\s*(?:\S*\/env\s+(?:-S\s+)?)?(?:\S*\/)?node\s*$/;
const MAX_SHEBANG = 256;
const supported = new Map<string, boolean>();

/**
 * Returns the command of an agent without the inspector of Node.js, for `node …` and for scripts of Node.js, if that version
 * of it has the option. It is not passed as NODE_OPTIONS, which every other version that a tool starts would refuse.
 */
export function hardened(command: Command, path: string): Command {
  const [name, ...args] = command;
  const program = findProgram(name, path);
  if (program === null) return command;
  const isNode = basename(program) === 'node';
  const node = isNode ? program : SHEBANG.test(firstLine(program)) ? findProgram('node', path) : null;
  if (node === null || !hasOption(node)) return command;
  return isNode ? [program, NO_INSPECTOR, ...args] : [node, NO_INSPECTOR, program, ...args];
}

function firstLine(path: string): string {
  const bytes = Buffer.alloc(MAX_SHEBANG);
  try {
    const file = openSync(path, 'r');
    const size = readSync(file, bytes);
    closeSync(file);
    return bytes.toString('latin1', 0, size).split('\n')[0] ?? '';
  } catch {
    return '';
  }
}

function hasOption(node: string): boolean {
  const known = supported.get(node) ?? spawnSync(node, [NO_INSPECTOR, '--version']).status === 0;
  supported.set(node, known);
  return known;
}
