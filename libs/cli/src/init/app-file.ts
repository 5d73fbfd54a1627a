import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { access, link, lstat, open, rename, unlink } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { ConvertedApp } from '@pipeline/vcs/github';
import { InputError } from '../command/errors.ts';

const PUBLIC_API = 'https://api.github.com';

/** Returns the variables that the services read, with the line breaks of the key as `\n`. */
export function appVariables(app: ConvertedApp, api: string): Record<string, string> {
  return {
    GITHUB_APP_ID: String(app.id),
    GITHUB_APP_PRIVATE_KEY: app.privateKey.trim().replaceAll(/\r?\n/g, '\\n'),
    ...(app.webhookSecret !== null && { GITHUB_WEBHOOK_SECRET: app.webhookSecret }),
    ...(api !== PUBLIC_API && { GITHUB_API_URL: api }),
  };
}

/** Formats variables for shells, systemd, compose and `node --env-file`: in single quotes none of them changes a value. */
export function envText(variables: Readonly<Record<string, string>>, comment: string): string {
  const lines = Object.entries(variables).map(([name, value]) => `${name}='${value}'`);
  return `# ${comment}\n${lines.join('\n')}\n`;
}

/** @throws InputError when the file cannot be created, or exists and may not be replaced. */
export async function requireFreeFile(file: string, force: boolean): Promise<void> {
  const known = await lstat(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw new InputError(`${file} cannot be created: ${error.message}`, { cause: error });
  });
  if (known?.isDirectory()) throw new InputError(`${file} is a directory`);
  if (known && !force) throw existing(file);
  await access(dirname(resolve(file)), constants.W_OK).catch((cause: Error) => {
    throw new InputError(`${file} cannot be created: ${cause.message}`, { cause });
  });
}

const existing = (file: string): InputError => new InputError(`${file} exists; --force replaces it`);

interface EnvFile {
  text: string;
  force: boolean;
  /** Remedy for the user when the text is lost. */
  remedy: string;
}

/**
 * Writes a file with mode 0600, whole or not at all; without `force` it never replaces one.
 * @throws InputError naming the temporary file that has the text, or the remedy.
 */
export async function writeEnvFile(file: string, { text, force, remedy }: EnvFile): Promise<void> {
  const draft = `${file}.${randomBytes(6).toString('hex')}.tmp`;
  await writeDraft(draft, text).catch((cause: Error) => {
    throw new InputError(`${file} cannot be written: ${cause.message}; ${remedy}`, { cause });
  });
  try {
    if (force) return await rename(draft, file);
    await link(draft, file);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new InputError(`${file} cannot be written: ${why}; ${resolve(draft)} contains the variables`, { cause });
  }
  await unlink(draft);
}

async function writeDraft(draft: string, text: string): Promise<void> {
  const handle = await open(draft, 'wx', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
