import { z } from 'zod';
import { unreadFile } from './secret-files.ts';

type Source = Readonly<Record<string, string | undefined>>;

const SECRET = /password|secret|token|key|credential|url$/i;

/** Environment variables are invalid; nothing was started. One line per variable. */
export class EnvError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'EnvError';
    this.problems = problems;
  }
}

/**
 * Reads the variables of a zod object and ignores others. An empty value is treated as not set, because compose files and
 * charts pass absent values as empty.
 * @throws EnvError naming every invalid variable and its expected value.
 */
export function parseEnv<S extends z.ZodObject>(schema: S, env: Source): z.output<S> {
  const given = Object.keys(schema.shape).map((name) => [name, env[name] === '' ? undefined : env[name]]);
  const parsed = schema.safeParse(Object.fromEntries(given));
  if (parsed.success) return parsed.data;
  const lines = new Map<string, string>();
  for (const { path, message } of parsed.error.issues) {
    const name = String(path[0] ?? 'environment');
    if (!lines.has(name))
      lines.set(
        name,
        `${name}: ${env[name] ? `${message}${shown(name, env[name])}` : missing(message) + unreadFile(name, env)}`,
      );
  }
  throw new EnvError([...lines.values()]);
}

const shown = (name: string, value: string) => (SECRET.test(name) ? '' : `, got ${JSON.stringify(value)}`);

const missing = (message: string) => (message.startsWith('Invalid input') ? 'must be set' : `must be set: ${message}`);

/** A whole number between two bounds, inclusive. */
export const envInt = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d+$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be a whole number from ${min} to ${max}`);

/** 0 = any free port. */
export const envPort = () => envInt(0, 65_535);

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Variables of every process, in addition to its own. */
export const commonEnv = {
  LOG_LEVEL: z
    .enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}`)
    .default('info')
    .describe(`Minimum log level: ${LOG_LEVELS.join(', ')}.`),
  LOG_DIR: z
    .string()
    .optional()
    .describe('Directory for log files (PROCESS.log, rotated), in addition to standard output.'),
  METRICS_PORT: envPort()
    .optional()
    .describe('Port of the Prometheus metrics endpoint of this process; unset = disabled.'),
  METRICS_HOST: z
    .string()
    .optional()
    .describe(
      'Address to listen on for METRICS_PORT; default 127.0.0.1. Of a name with several addresses, the one of this machine.',
    ),
};
