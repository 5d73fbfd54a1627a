import { envInt, envPort } from '@pipeline/runtime';
import { z } from 'zod';

const postgres = z.url({ protocol: /^postgres(ql)?$/, error: 'must be a postgres:// address' });
const http = z.url({ protocol: /^https?$/, error: 'must be an http or https address' });

/** What the monitor reads from its environment, beside LOG_LEVEL, LOG_DIR and METRICS_PORT. */
export const monitorEnv = {
  /** Without it every route that needs the store answers 503. */
  DATABASE_URL: postgres.optional(),
  /** For doorbell and leads, which no pooler can carry; default DATABASE_URL. */
  DATABASE_DIRECT_URL: postgres.optional(),
  DATABASE_POOL_SIZE: envInt(2, 500).default(10),
  /** The YAML file; none = the built-in default. */
  PIPELINE_CONFIG: z.string().optional(),
  GITHUB_TOKEN: z.string().optional(),
  GITHUB_API_URL: http.default('https://api.github.com'),
  /** A sandbox host; SANDBOX_TOKEN goes with it. */
  SANDBOX_URL: http.optional(),
  SANDBOX_TOKEN: z.string().optional(),
  HOST: z.string().default('127.0.0.1'),
  PORT: envPort().default(8090),
  /** Per credential; 0 = no limit. */
  REQUESTS_PER_MINUTE: envInt(0, 1_000_000).default(1_200),
  /** How many proxies in front are believed about the caller's address. */
  TRUSTED_PROXIES: envInt(0, 10).default(0),
};

export type MonitorEnv = z.output<z.ZodObject<typeof monitorEnv>>;
