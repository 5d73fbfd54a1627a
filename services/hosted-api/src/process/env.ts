import { envInt, envPemKey, envPort } from '@pipeline/runtime';
import { DatabaseUrl } from '@pipeline/store';
import { z } from 'zod';
import { CLIENT_AUTH_METHODS } from '../accounts/providers/client-auth-methods.ts';

const SECURE = /^https:|^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:|\/|$)/;
/** Passwords and tokens go there, so it is https, but for this machine itself. */
const publicUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' })
  .refine((text) => SECURE.test(text), {
    error: 'must be https://, because passwords and tokens are sent there; http:// is allowed for localhost only',
    abort: true,
  })
  .refine((text) => /^\w+:\/\/[^/?#@]+\/?$/.test(text), { error: 'must be scheme, host and port, without a path' });
const cookieKeys = z
  .string()
  .transform((text) => text.split(',').map((key) => key.trim()))
  .refine((keys) => keys.every((key) => key.length >= 32), {
    error: 'must be comma-separated secrets of 32 characters or more; generate one with openssl rand -hex 32',
  });
/** Client secrets are sent there. */
const loginUrl = z
  .url({ protocol: /^https?$/, error: 'must be an https:// URL' })
  .max(500)
  .refine((text) => SECURE.test(text), {
    error: 'must be https://, because secrets are sent there; http:// is allowed for localhost only',
  });
const label = z.string().trim().min(1).max(40);
const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' });

/** Variables of this process, beside those that every process understands. */
export const hostedEnv = {
  DATABASE_URL: DatabaseUrl.describe('Connection URL of the Postgres store.'),
  DATABASE_DIRECT_URL: DatabaseUrl.optional().describe(
    'Direct connection URL that bypasses a pooler, for LISTEN; default DATABASE_URL.',
  ),
  DATABASE_READ_URL: DatabaseUrl.optional().describe(
    'Connection URL of a replica for reads that may be seconds late; they use the primary while it is unreachable.',
  ),
  DATABASE_POOL_SIZE: envInt(2, 500)
    .default(10)
    .describe('Size of the connection pool for requests; loops have 3 connections more.'),
  HOST: z.string().default('127.0.0.1').describe('Address to listen on; the container images set 0.0.0.0.'),
  PORT: envPort().default(8080).describe('Port to listen on; 0 = any free port.'),
  PUBLIC_URL: publicUrl
    .optional()
    .describe('Public base URL of this API, such as https://pipeline.example.org; default http://localhost:PORT.'),
  TRUSTED_PROXIES: envInt(0, 10)
    .default(0)
    .describe('Number of reverse proxies whose X-Forwarded-For entries are trusted.'),
  OAUTH_COOKIE_KEYS: cookieKeys
    .optional()
    .describe(
      'Comma-separated secrets of 32 characters or more, the same on all replicas. The first signs, all are accepted. Required with an https PUBLIC_URL; otherwise a random secret is generated at each start.',
    ),
  ACCESS_TOKEN_SECONDS: envInt(60, 3_600).default(600).describe('Lifetime of an access token in seconds.'),
  REFRESH_TOKEN_DAYS: envInt(1, 365).default(30).describe('Days after which an unused connection expires.'),
  CONNECTION_DAYS: envInt(1, 3_650).default(365).describe('Maximum lifetime of a connection in days.'),
  LOGIN_RATE_LIMIT: envInt(0, 10_000)
    .default(10)
    .describe(
      'Failed logins per 5 minutes for one email from one address, over all replicas. The limit is 3 times as high per address and 10 times as high per email over all addresses; 0 = no limit.',
    ),
  REGISTRATION_RATE_LIMIT: envInt(0, 100_000)
    .default(20)
    .describe('Client registrations per hour and address, over all replicas; 0 = no limit.'),
  TOKEN_RATE_LIMIT: envInt(0, 1_000_000)
    .default(600)
    .describe('Token requests per 5 minutes and address, over all replicas; 0 = no limit.'),
  OIDC_ISSUER: loginUrl
    .optional()
    .describe(
      'Issuer of the OpenID Connect provider that users log in with, exactly as its discovery document names it. Unset = no such login.',
    ),
  OIDC_CLIENT_ID: z
    .string()
    .optional()
    .describe('Client id at the OpenID Connect provider; required with OIDC_ISSUER.'),
  OIDC_CLIENT_SECRET: z
    .string()
    .optional()
    .describe('Client secret at the OpenID Connect provider; required with OIDC_ISSUER.'),
  OIDC_CLIENT_AUTH_METHOD: z
    .enum(CLIENT_AUTH_METHODS)
    .default('client_secret_basic')
    .describe('How the client authenticates at the token endpoint: client_secret_basic or client_secret_post.'),
  OIDC_LABEL: label.default('single sign-on').describe('Name of the OpenID Connect provider on the login page.'),
  GITHUB_LOGIN_CLIENT_ID: z
    .string()
    .optional()
    .describe('Client id of an OAuth app or GitHub App that users log in with. Unset = no login by GitHub.'),
  GITHUB_LOGIN_CLIENT_SECRET: z
    .string()
    .optional()
    .describe('Client secret of that app; required with GITHUB_LOGIN_CLIENT_ID.'),
  GITHUB_LOGIN_URL: loginUrl
    .default('https://github.com')
    .describe('Base URL of the pages of GitHub for logins; for GitHub Enterprise Server: https://HOST.'),
  GITHUB_LOGIN_LABEL: label.default('GitHub').describe('Name of GitHub on the login page.'),
  PROVIDER_LOGIN_RATE_LIMIT: envInt(0, 100_000)
    .default(100)
    .describe('Logins by GitHub or OpenID Connect begun per 5 minutes and address, over all replicas; 0 = no limit.'),
  MONITOR_URL: httpUrl.optional().describe('Public URL of the monitor.'),
  TELL_STORE_DETAILS: z
    .stringbool()
    .default(false)
    .describe(
      'Include host, port and name of the database in the bootstrap response; user and password are never included.',
    ),
  GITHUB_WEBHOOK_SECRET: z
    .string()
    .optional()
    .describe('Secret that signs GitHub webhook deliveries. Without it, every delivery is rejected.'),
  GITHUB_APP_ID: z
    .string()
    .optional()
    .describe(
      'Id of the GitHub App that issues short-lived git tokens for workers. Without it, workers use their own git credentials.',
    ),
  GITHUB_APP_PRIVATE_KEY: envPemKey()
    .optional()
    .describe('RSA private key of the GitHub App in PEM form; required with GITHUB_APP_ID.'),
  GITHUB_API_URL: httpUrl
    .default('https://api.github.com')
    .describe('Base URL of the GitHub API; for GitHub Enterprise: https://HOST/api/v3.'),
  SANDBOX_URL: httpUrl.optional().describe('URL of a sandbox host, for evaluation.'),
  SANDBOX_APP_ID: z.string().optional().describe('App id on the sandbox host; requires SANDBOX_URL.'),
  SANDBOX_APP_PRIVATE_KEY: envPemKey().optional().describe('RSA private key of the sandbox app in PEM form.'),
  WORKER_RATE_LIMIT: envInt(0, 1_000_000).default(100).describe('Requests per second and worker token; 0 = no limit.'),
  CONNECTION_RATE_LIMIT: envInt(0, 1_000_000)
    .default(600)
    .describe('Requests per minute, connection and replica; 0 = no limit.'),
  ORG_RATE_LIMIT: envInt(0, 10_000_000)
    .default(3_000)
    .describe('Requests per minute of all connections of an organisation, per replica; 0 = no limit.'),
  MCP_RATE_LIMIT: envInt(0, 1_000_000)
    .default(120)
    .describe('MCP messages per minute, connection and replica; 0 = no limit.'),
  ADDRESS_RATE_LIMIT: envInt(0, 10_000_000)
    .default(12_000)
    .describe('Requests per minute, address and replica, including workers; 0 = no limit.'),
};
