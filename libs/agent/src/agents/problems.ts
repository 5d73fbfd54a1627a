import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import type { AgentPreset } from './presets.ts';

/**
 * Returns the path of a program as a shell finds it; null when it is not on the PATH. Folders that are not absolute are left
 * out: they may be those of an agent.
 */
export function findProgram(program: string, path: string): string | null {
  const candidates = program.includes('/')
    ? [isAbsolute(program) ? program : resolve(program)]
    : pathFolders(path).map((folder) => join(folder, program));
  return candidates.find(isExecutable) ?? null;
}

/** Returns the absolute folders of a PATH. */
export const pathFolders = (path: string): string[] => path.split(delimiter).filter((folder) => isAbsolute(folder));

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Returns the message for a program that is not installed. */
export function missingProgram({ name, command, install }: AgentPreset): string {
  const [program] = command;
  const how = install === null ? 'check the command and the PATH' : `install it: ${install}`;
  return `the agent ${name} needs the program ${program}, which was not found; ${how}`;
}

/** Returns the message for an agent without a key. `variables` are names that the agent reported. */
export function missingKey({ name, keys }: AgentPreset, variables: readonly string[] = []): string {
  const [first, ...others] = [...new Set([...keys, ...variables])];
  if (first === undefined)
    return `the agent ${name} is not authenticated: pass the variable that contains its key with --env NAME`;
  const also = others.length > 0 ? ` (or ${others.join(', ')})` : '';
  return `the agent ${name} is not authenticated: set ${first}${also} in the environment of pipeline-agent`;
}
