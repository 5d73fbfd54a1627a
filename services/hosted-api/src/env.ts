import { envInt, envPort } from '@pipeline/runtime';
import { z } from 'zod';

const postgresUrl = z.url({ protocol: /^postgres(ql)?$/, error: 'must be a postgres:// URL' });
const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' });

/** Variables of this process, beside those that every process understands. */
export const hostedEnv = {
  DATABASE_URL: postgresUrl,
  /** Past a pooler, for the session that listens; default DATABASE_URL. */
  DATABASE_DIRECT_URL: postgresUrl.optional(),
  /** A replica for reads that may lag. */
  DATABASE_READ_URL: postgresUrl.optional(),
  DATABASE_POOL_SIZE: envInt(2, 500).default(10),
  HOST: z.string().default('127.0.0.1'),
  PORT: envPort().default(8080),
  /** Where this API and the monitor are reached from outside. */
  PUBLIC_URL: httpUrl.optional(),
  MONITOR_URL: httpUrl.optional(),
  /** Without it no delivery can be verified, so every one is refused. */
  GITHUB_WEBHOOK_SECRET: z.string().optional(),
  /** Requests a second per worker token; 0 = no limit. */
  WORKER_RATE_LIMIT: envInt(0, 1_000_000).default(100),
};
