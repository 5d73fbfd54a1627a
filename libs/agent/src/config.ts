import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { PERMISSION_KINDS, PERMISSION_RULES } from './session/permissions.ts';
import { RouteRule } from './tasks/routes.ts';

const usd = z.number().min(0).max(10_000);
const rule = z.enum(PERMISSION_RULES);

const Config = z.strictObject({
  /** The first matching rule selects agent, model and mode. */
  routes: z.array(RouteRule).max(1_000).default([]),
  permissions: z.partialRecord(z.enum(PERMISSION_KINDS), rule).default({}),
  /** USD per million tokens, for agents that report tokens without a cost. */
  prices: z
    .array(
      z.strictObject({
        pattern: z.string().min(1).max(200),
        inputUsd: usd,
        outputUsd: usd,
        cacheReadUsd: usd.default(0),
        cacheWriteUsd: usd.default(0),
      }),
    )
    .max(1_000)
    .default([]),
  identity: z
    .strictObject({ name: z.string().min(1).max(200), email: z.string().regex(/^[^\s<>@]+@[^\s<>@]+$/) })
    .default({ name: 'Pipeline agent', email: 'agent@pipeline.invalid' }),
});
export type AgentConfig = z.output<typeof Config>;

/** Reads the configuration of `pipeline-agent`. @throws Error naming the file and the problem. */
export function readConfig(path: string | undefined): AgentConfig {
  if (path === undefined) return Config.parse({});
  try {
    return Config.parse(parse(readFileSync(path, 'utf8')) ?? {});
  } catch (error) {
    const problem = error instanceof z.ZodError ? z.prettifyError(error) : (error as Error).message;
    throw new Error(`${path} cannot be used: ${problem}`, { cause: error });
  }
}
