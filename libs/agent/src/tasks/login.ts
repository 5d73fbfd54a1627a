import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { CONFINER_ENV } from '@pipeline/worker';
import type { AgentPreset } from '../agents/presets.ts';
import type { Box } from '../sandbox/sandbox.ts';

const MAX_BYTES = 1024 * 1024;

/** Removes what the setup command left under a name of the home folder: a link there leads to another place. */
const CLEAR = 'rm -rf -- "$1"';
const WRITE = 'umask 077; mkdir -p "$(dirname "$1")"; cat > "$1"';
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
  const run = async (script: string, path: string, input = '') => {
    const command = ['/bin/sh', '-euc', script, 'sh', path] as const;
    const { exitCode, stderr } = await box.run({ command, env: CONFINER_ENV, cwd: to }, { ...LIMITS, input });
    if (exitCode !== 0) throw new Error(`the login could not be copied to ${path}: ${stderr}`);
  };
  await run(CLEAR, join(to, folder.split('/')[0] ?? folder));
  for (const name of files) {
    const input = await readRegular(join(settings, name));
    if (input !== null) await run(WRITE, join(to, folder, name), input);
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
