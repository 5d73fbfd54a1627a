import { envInt, envPort } from '@pipeline/runtime';
import { z } from 'zod';
import { pemKey } from '../repos/git-access.ts';

const postgresUrl = z.url({ protocol: /^postgres(ql)?$/, error: 'must be a postgres:// URL' });
/** Passwords and tokens go there, so it is https, but for this machine itself. */
const publicUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' })
  .refine((text) => /^https:|^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:|\/|$)/.test(text), {
    error: 'must be https://, for passwords and tokens go there; http:// is for localhost only',
    abort: true,
  })
  .refine((text) => /^\w+:\/\/[^/?#@]+\/?$/.test(text), { error: 'must be scheme, host and port, without a path' });
const cookieKeys = z
  .string()
  .transform((text) => text.split(',').map((key) => key.trim()))
  .refine((keys) => keys.every((key) => key.length >= 32), {
    error: 'must be secrets of 32 characters or more, separated by commas: openssl rand -hex 32 makes one',
  });
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
  PUBLIC_URL: publicUrl
    .optional()
    .describe(
      'Where browsers and programs reach this API, such as https://pipeline.example.org; without it http://localhost and PORT.',
    ),
  TRUSTED_PROXIES: envInt(0, 10)
    .default(0)
    .describe("Proxies in front whose word about the caller's address is believed."),
  OAUTH_COOKIE_KEYS: cookieKeys
    .optional()
    .describe(
      'Secrets of 32 characters or more, separated by commas, alike on all replicas: the first signs, all are accepted. Required with an https PUBLIC_URL; without it one is made at each start.',
    ),
  ACCESS_TOKEN_SECONDS: envInt(60, 3_600).default(600).describe('How long an access token lives.'),
  REFRESH_TOKEN_DAYS: envInt(1, 365).default(30).describe('How long a connection lives without being used.'),
  CONNECTION_DAYS: envInt(1, 3_650).default(365).describe('How long a connection lives at most.'),
  LOGIN_RATE_LIMIT: envInt(0, 10_000)
    .default(10)
    .describe(
      'Failed logins in 5 minutes for one email from one address, over all replicas; 3 times as many for an address, 10 times for an email from all addresses; 0 = no limit.',
    ),
  REGISTRATION_RATE_LIMIT: envInt(0, 100_000)
    .default(20)
    .describe('Programs that register in an hour per address, over all replicas; 0 = no limit.'),
  TOKEN_RATE_LIMIT: envInt(0, 1_000_000)
    .default(600)
    .describe('Token requests in 5 minutes per address, over all replicas; 0 = no limit.'),
  MONITOR_URL: httpUrl.optional().describe('Where the monitor is reached from outside.'),
  TELL_STORE_DETAILS: z
    .stringbool()
    .default(false)
    .describe('Tell connections the host, port and name of the database; never a user or a password.'),
  GITHUB_WEBHOOK_SECRET: z
    .string()
    .optional()
    .describe('Signs the deliveries of GitHub. Without it none can be verified, so every one is refused.'),
  GITHUB_APP_ID: z
    .string()
    .optional()
    .describe('Id of the GitHub App whose short-lived tokens workers get for git. Without it they get none.'),
  GITHUB_APP_PRIVATE_KEY: pemKey.optional().describe('Its RSA key, PEM; goes with GITHUB_APP_ID.'),
  GITHUB_API_URL: httpUrl.default('https://api.github.com').describe('For GitHub Enterprise: https://HOST/api/v3.'),
  SANDBOX_URL: httpUrl.optional().describe('A sandbox host, for trials.'),
  SANDBOX_APP_ID: z.string().optional().describe('Id of an app of the sandbox host; SANDBOX_URL goes with it.'),
  SANDBOX_APP_PRIVATE_KEY: pemKey.optional().describe('Its RSA key, PEM.'),
  WORKER_RATE_LIMIT: envInt(0, 1_000_000).default(100).describe('Requests a second per worker token; 0 = no limit.'),
  CONNECTION_RATE_LIMIT: envInt(0, 1_000_000)
    .default(600)
    .describe('Requests a minute per connection and replica; 0 = no limit.'),
  ORG_RATE_LIMIT: envInt(0, 10_000_000)
    .default(3_000)
    .describe('Requests a minute of all connections of an organisation, per replica; 0 = no limit.'),
  MCP_RATE_LIMIT: envInt(0, 1_000_000)
    .default(120)
    .describe('MCP messages a minute per connection and replica; 0 = no limit.'),
  ADDRESS_RATE_LIMIT: envInt(0, 10_000_000)
    .default(12_000)
    .describe('Requests a minute per address and replica, workers included; 0 = no limit.'),
};
