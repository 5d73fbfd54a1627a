import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { AppError, type PipelineConfig, parsePipelineConfig } from '@pipeline/domain';
import { z } from 'zod';
import { requireVariables, type Variables } from './required-variables.ts';
import { parseYaml } from './yaml.ts';

export type RepoConfig = PipelineConfig['repos'][number];

export interface LoadedConfig {
  /** Absolute path of the file, or `default`. */
  source: string;
  config: PipelineConfig;
  /** Repos whose branch stands in the file; for the others the host knows it. */
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
  const value = path === undefined ? {} : parseYaml(await read(source));
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
