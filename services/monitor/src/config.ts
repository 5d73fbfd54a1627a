import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { AppError, type PipelineConfig, parsePipelineConfig } from '@pipeline/domain';
import { parseDocument } from 'yaml';
import { z } from 'zod';

export type RepoConfig = PipelineConfig['repos'][number];

export interface LoadedConfig {
  /** Absolute path of the file, or `default`. */
  source: string;
  config: PipelineConfig;
  /** Repos whose branch stands in the file; for the others the host knows it. */
  ownBranch: ReadonlySet<RepoConfig>;
}

/**
 * Reads the configuration that PIPELINE_CONFIG names; the built-in default without one.
 * @throws AppError CONFIG_LOAD_FAILED or CONFIG_VALIDATION_FAILED, one line for each problem.
 */
export async function loadConfig(path: string | undefined): Promise<LoadedConfig> {
  const source = path === undefined ? 'default' : resolve(path);
  const value = path === undefined ? {} : parseYaml(await read(source));
  const config = parsePipelineConfig(value);
  const { data } = z.object({ repos: z.array(z.object({ branch: z.unknown().optional() })) }).safeParse(value);
  const ownBranch = new Set(config.repos.filter((_repo, index) => data?.repos[index]?.branch !== undefined));
  return { source, config, ownBranch };
}

async function read(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new AppError('CONFIG_LOAD_FAILED', `cannot be read: ${(cause as Error).message}`, { cause });
  }
}

function parseYaml(text: string): unknown {
  const document = parseDocument(text);
  if (document.errors.length > 0) {
    const lines = document.errors.map(({ message }) => message.split('\n', 1)[0]?.replace(/:$/, ''));
    throw new AppError('CONFIG_LOAD_FAILED', lines.join('\n'));
  }
  try {
    return document.toJS();
  } catch (cause) {
    // An alias without its anchor, or more of them than any honest file has.
    throw new AppError('CONFIG_LOAD_FAILED', (cause as Error).message, { cause });
  }
}
