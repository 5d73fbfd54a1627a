import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type GitCredentials, gitEnv } from '@pipeline/worker';

const run = promisify(execFile);
const MAX_OUTPUT = 64 * 1024 * 1024;

/**
 * Settings for every git command: no hooks, no file watcher, no attributes and ignore rules of the machine. Filters need a
 * configuration, and no file with one is read.
 */
const SETTINGS: readonly [string, string][] = [
  ['core.hooksPath', '/dev/null'],
  ['core.fsmonitor', 'false'],
  ['core.attributesFile', '/dev/null'],
  ['core.excludesFile', '/dev/null'],
  ['core.autocrlf', 'false'],
  ['core.quotePath', 'false'],
  ['diff.ignoreSubmodules', 'all'],
  ['fetch.recurseSubmodules', 'false'],
  ['protocol.ext.allow', 'never'],
  ['gc.auto', '0'],
  ['advice.addEmbeddedRepo', 'false'],
];

/** Returns the environment of git, which reads no configuration of the machine: it may name programs, and credentials. */
export function gitEnvironment(
  parent: Readonly<Record<string, string>>,
  credentials: GitCredentials | null = null,
): Record<string, string> {
  const kept = Object.entries(parent).filter(([name]) => !name.startsWith('GIT_'));
  const settings = SETTINGS.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  const env = {
    ...Object.fromEntries(kept),
    ...Object.fromEntries(settings),
    GIT_CONFIG_COUNT: String(SETTINGS.length),
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    LC_ALL: 'C',
  };
  return credentials === null ? env : { ...env, ...gitEnv(credentials, env) };
}

/** A git command failed. */
export class GitFailure extends Error {
  readonly exitCode: number | null;
  readonly stdout: string;

  constructor(message: string, exitCode: number | null, stdout: string) {
    super(message);
    this.name = 'GitFailure';
    this.exitCode = exitCode;
    this.stdout = stdout;
  }
}

export interface GitOptions {
  cwd: string;
  env: Readonly<Record<string, string>>;
  signal?: AbortSignal | undefined;
  /** Text for standard input. */
  input?: string;
}

/** Runs git and returns its output. @throws GitFailure with the output of git, without credentials in addresses. */
export async function git(args: readonly string[], { cwd, env, signal, input = '' }: GitOptions): Promise<string> {
  try {
    const options = { cwd, env, maxBuffer: MAX_OUTPUT, ...(signal && { signal }) };
    const running = run('git', [...args], options);
    running.child.stdin?.on('error', () => undefined).end(input);
    return (await running).stdout;
  } catch (error) {
    signal?.throwIfAborted();
    const { code, stderr, stdout } = error as { code?: unknown; stderr?: string; stdout?: string };
    const output = withoutCredentials(stderr || stdout || String(error)).trim();
    const exitCode = typeof code === 'number' ? code : null;
    throw new GitFailure(`git ${args[0]} failed: ${output}`, exitCode, stdout ?? '');
  }
}

/** Removes user names and passwords from the addresses in a text. */
export const withoutCredentials = (text: string): string => text.replace(/\/\/[^@/\s]{1,1000}@/g, '//***@');

/** Splits output that is separated by NUL. */
export const names = (output: string): string[] => output.split('\0').filter((name) => name !== '');
