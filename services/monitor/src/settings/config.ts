import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { AppError, type PipelineConfig, parsePipelineConfig } from '@pipeline/domain';
import { isPasswordHash } from '@pipeline/engine';
import { unreadFile } from '@pipeline/runtime';
import type { Document, ErrorCode } from 'yaml';
import { z } from 'zod';

/** Description of a problem by the code of the parser. */
const PROBLEMS: Partial<Record<ErrorCode, string>> = {
  BAD_DQ_ESCAPE: 'a backslash in double quotes begins no known character',
  BAD_INDENT: 'the indentation does not match the lines around it, or a bracket or brace is not closed',
  BAD_SCALAR_START: 'the value begins with a character that needs quotes',
  BLOCK_AS_IMPLICIT_KEY: 'a key and value stand where only a value may; check the indentation and the colons',
  BLOCK_IN_FLOW: 'an indented block stands inside brackets or braces',
  DUPLICATE_KEY: 'the key is there twice',
  MISSING_CHAR: 'a closing quote, the colon after a key or the - of a list is missing',
  MULTILINE_IMPLICIT_KEY: 'a key runs over several lines, or its colon is missing',
  MULTIPLE_DOCS: 'the file holds several documents; --- begins a second one',
  TAB_AS_INDENT: 'a line begins with a tab; indent with spaces',
  UNEXPECTED_TOKEN: 'a character stands where none is expected',
};

/**
 * Parses YAML. The library is loaded for a file only: without one it would cost each start, and stay in memory.
 * @returns null for text without content.
 * @throws AppError CONFIG_LOAD_FAILED, one line for each problem, with its line and the key there.
 */
async function parseYaml(text: string): Promise<unknown> {
  const { LineCounter, parseDocument, visit } = await import('yaml');
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const at = (offset: number) => placeIn(text, lines.linePos(offset).line);
  const problems = document.errors.map(({ code, pos }) => `${at(pos[0])}: ${PROBLEMS[code] ?? 'is not valid YAML'}`);
  if (problems.length > 0) throw new AppError('CONFIG_LOAD_FAILED', [...new Set(problems)].join('\n'));
  try {
    return document.toJS();
  } catch (cause) {
    throw new AppError('CONFIG_LOAD_FAILED', aliasProblem(document, visit, at), { cause });
  }
}

type Visit = typeof import('yaml').visit;

/** The one problem that shows only when values are made. */
function aliasProblem(document: Document, visit: Visit, at: (offset: number) => string): string {
  let problem = 'the file holds more aliases than a configuration needs';
  visit(document, {
    Alias(_key, alias) {
      if (alias.resolve(document)) return;
      problem = `${at(alias.range?.[0] ?? 0)}: the alias *${alias.source} has no anchor`;
      return visit.BREAK;
    },
  });
  return problem;
}

const KEY = /(?:^|[\s{,])["']?([\w.-]{1,100})["']?\s{0,10}:(?:\s|$)/g;

/** The line with the last key on it, or on one above it. */
function placeIn(text: string, line: number): string {
  const above = text.split('\n').slice(0, line);
  const key = above.map((one) => [...one.matchAll(KEY)].at(-1)?.[1]).findLast((found) => found !== undefined);
  return key === undefined ? `line ${line}` : `line ${line}, at "${key}"`;
}

export type RepoConfig = PipelineConfig['repos'][number];

export interface LoadedConfig {
  /** Absolute path of the file, or `default`. */
  source: string;
  config: PipelineConfig;
  /** Repos whose branch stands in the file; for the others the host is queried. */
  ownBranch: ReadonlySet<RepoConfig>;
}

/**
 * Reads the configuration that PIPELINE_CONFIG names; the built-in default without one. A start and a reload accept the
 * same files. An empty file is refused: it would be the default, in which the monitor is open to everyone.
 * @param variables where the variables that it names must be set.
 * @throws AppError CONFIG_LOAD_FAILED or CONFIG_VALIDATION_FAILED, one line for each problem.
 */
export async function loadConfig(path: string | undefined, variables: Variables): Promise<LoadedConfig> {
  const source = path === undefined ? 'default' : resolve(path);
  const value = path === undefined ? {} : await parseYaml(await read(source));
  if (value === null || value === undefined) throw new AppError('CONFIG_VALIDATION_FAILED', EMPTY);
  const config = parsePipelineConfig(value);
  requireVariables(config, variables);
  const { data } = z.object({ repos: z.array(z.object({ branch: z.unknown().optional() })) }).safeParse(value);
  const ownBranch = new Set(config.repos.filter((_repo, index) => data?.repos[index]?.branch !== undefined));
  return { source, config, ownBranch };
}

const EMPTY = 'config: is empty, which would leave the monitor open to everyone; write {} for the built-in default';

async function read(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new AppError('CONFIG_LOAD_FAILED', `cannot be read: ${(cause as Error).message}`, { cause });
  }
}

export type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Checks that the environment variables that a configuration names are set, and that passwords which look like hashes
 * are valid ones.
 * @throws AppError CONFIG_VALIDATION_FAILED, one line for each problem.
 */
export function requireVariables(config: PipelineConfig, variables: Variables): void {
  const problems = namedBy(config).flatMap(({ name, by, isPassword }) => {
    const value = variables[name] ?? '';
    if (value === '') return [`${name}: must be set: ${by}${unreadFile(name, variables)}`];
    if (isPassword && value.startsWith('$argon2') && !isPasswordHash(value)) {
      return [`${name}: looks like a hash, but is not argon2id in the PHC format ($argon2id$v=19$m=…,t=…,p=…)`];
    }
    return [];
  });
  if (problems.length > 0) throw new AppError('CONFIG_VALIDATION_FAILED', problems.join('\n'));
}

interface Named {
  name: string;
  /** Key that names it. */
  by: string;
  isPassword?: boolean;
}

function namedBy({ agents, alertChannels, retrieval }: PipelineConfig): Named[] {
  const auth = agents.monitor?.auth;
  const logins = auth ? [auth, ...auth.logins] : [];
  const { embedding, embeddingEndpoint } = retrieval;
  const key = embedding ? (embeddingEndpoint?.apiKeyEnv ?? null) : null;
  return [
    ...logins.map(({ username, passwordEnv }) => {
      return { name: passwordEnv, by: `agents.monitor.auth names it for ${username}`, isPassword: true };
    }),
    ...alertChannels.flatMap((channel, n) => {
      if (channel.type === 'webhook')
        return [{ name: channel.secretEnv, by: `alertChannels[${n}].secretEnv names it` }];
      return channel.type === 'slack' ? [{ name: channel.urlEnv, by: `alertChannels[${n}].urlEnv names it` }] : [];
    }),
    ...(key === null ? [] : [{ name: key, by: 'retrieval.embeddingEndpoint.apiKeyEnv names it' }]),
  ];
}
