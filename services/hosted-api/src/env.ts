import { envInt, envPort } from '@pipeline/runtime';
import { z } from 'zod';

const postgresUrl = z.url({ protocol: /^postgres(ql)?$/, error: 'must be a postgres:// URL' });
const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' });

/** Variables of this process, beside those that every process understands. */
export const hostedEnv = {
  DATABASE_URL: postgresUrl.describe('The store.'),
  DATABASE_DIRECT_URL: postgresUrl
    .optional()
    .describe('Past a pooler, for the session that listens; without it DATABASE_URL.'),
  DATABASE_READ_URL: postgresUrl.optional().describe('A replica for reads that may lag.'),
  DATABASE_POOL_SIZE: envInt(2, 500).default(10).describe('Connections of the tenant pool.'),
  HOST: z.string().default('127.0.0.1').describe('Address to listen on; 0.0.0.0 in the images.'),
  PORT: envPort().default(8080).describe('Port to listen on; 0 = any that is free.'),
  PUBLIC_URL: httpUrl.optional().describe('Where this API is reached from outside.'),
  MONITOR_URL: httpUrl.optional().describe('Where the monitor is reached from outside.'),
  GITHUB_WEBHOOK_SECRET: z
    .string()
    .optional()
    .describe('Signs the deliveries of GitHub. Without it none can be verified, so every one is refused.'),
  WORKER_RATE_LIMIT: envInt(0, 1_000_000).default(100).describe('Requests a second per worker token; 0 = no limit.'),
};
