import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { CONFINER_ENV } from '@pipeline/worker';
import type { AgentPreset } from '../agents/presets.ts';
import type { Box } from '../sandbox/sandbox.ts';

const MAX_BYTES = 1024 * 1024;

/** Writes a login in the place of what the setup command left. Arguments: a name of the home folder, the file. */
const WRITE = 'umask 077; rm -rf "$1"; mkdir -p "$(dirname "$2")"; cat > "$2"';
const ADD = 'umask 077; mkdir -p "$(dirname "$2")"; cat > "$2"';
const LIMITS = { maxBytes: 1_000, timeoutMs: 20_000 };

export interface LoginPlaces {
  env: Readonly<Record<string, string>>;
  /** Home folder of the operator. */
  from: string;
  /** Home folder of a task, in its box. */
  to: string;
  box: Box;
}

/**
 * Copies the login of an agent from the settings of the operator to a home folder, and nothing else of them. A token that
 * the agent renews is lost with the copy.
 */
export async function copyLogin({ login }: AgentPreset, { env, from, to, box }: LoginPlaces): Promise<void> {
  if (login === null) return;
  const { folder, variable, files } = login;
  const settings = (variable === null ? undefined : env[variable]) ?? join(from, folder);
  const [top = folder] = folder.split('/');
  let script = WRITE;
  for (const name of files) {
    const input = await readRegular(join(settings, name));
    if (input === null) continue;
    const command = ['/bin/sh', '-euc', script, 'sh', join(to, top), join(to, folder, name)] as const;
    script = ADD;
    const { exitCode, stderr } = await box.run({ command, env: CONFINER_ENV, cwd: to }, { ...LIMITS, input });
    if (exitCode !== 0) throw new Error(`the login ${name} could not be copied: ${stderr}`);
  }
}

/** Returns the text of a regular file; null for anything else, without waiting for a named pipe. */
async function readRegular(path: string): Promise<string | null> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(() => null);
  if (file === null) return null;
  try {
    const found = await file.stat();
    return found.isFile() && found.size <= MAX_BYTES ? await file.readFile('utf8') : null;
  } finally {
    await file.close();
  }
}
