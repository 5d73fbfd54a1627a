import { type commonEnv, envInt, envPemKey, envPort } from '@pipeline/runtime';
import { DatabaseUrl } from '@pipeline/store';
import { z } from 'zod';

const http = z.url({ protocol: /^https?$/, error: 'must be an http or https address' });

/** Variables that the monitor reads from its environment, beside those that every process reads. */
export const monitorEnv = {
  DATABASE_URL: DatabaseUrl.optional().describe(
    'Connection URL of the Postgres store. Without it, routes that require the store return 503.',
  ),
  DATABASE_DIRECT_URL: DatabaseUrl.optional().describe(
    'Direct connection URL that bypasses a pooler, for LISTEN and advisory locks; default DATABASE_URL.',
  ),
  DATABASE_POOL_SIZE: envInt(2, 500)
    .default(10)
    .describe('Size of the connection pool for loops; requests have a quarter more.'),
  PIPELINE_CONFIG: z
    .string()
    .optional()
    .describe('Path of the YAML configuration file; default: the built-in configuration.'),
  GITHUB_TOKEN: z
    .string()
    .optional()
    .describe('Token for reading from and writing to GitHub, for trying the service; not used with GITHUB_APP_ID.'),
  GITHUB_APP_ID: z
    .string()
    .optional()
    .describe('Id of the GitHub App that the monitor acts as; requires GITHUB_APP_PRIVATE_KEY.'),
  GITHUB_APP_PRIVATE_KEY: envPemKey()
    .optional()
    .describe('RSA private key of the GitHub App in PEM form; required with GITHUB_APP_ID.'),
  GITHUB_API_URL: http
    .default('https://api.github.com')
    .describe('Base URL of the GitHub API; for GitHub Enterprise: https://HOST/api/v3.'),
  SANDBOX_URL: http
    .optional()
    .describe('URL of a sandbox host, for evaluation; requires SANDBOX_TOKEN or SANDBOX_APP_ID.'),
  SANDBOX_TOKEN: z.string().optional().describe('Token for the sandbox host; not used with SANDBOX_APP_ID.'),
  SANDBOX_APP_ID: z.string().optional().describe('App id on the sandbox host; requires SANDBOX_URL.'),
  SANDBOX_APP_PRIVATE_KEY: envPemKey().optional().describe('RSA private key of the sandbox app in PEM form.'),
  DOCKER_HOST: z
    .url({
      protocol: /^(unix|tcp|https?)$/,
      error: 'must be a URL such as unix:///var/run/docker.sock or tcp://127.0.0.1:2375',
    })
    .default('unix:///var/run/docker.sock')
    .describe('URL of the Docker engine for the restart strategy docker.'),
  OTEL_EXPORTER_OTLP_ENDPOINT: http
    .optional()
    .describe(
      'Base URL of an OpenTelemetry collector; finished runs are exported to /v1/traces below it. Default: off.',
    ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: http
    .optional()
    .describe('URL that takes OTLP traces over HTTP; has precedence over OTEL_EXPORTER_OTLP_ENDPOINT.'),
  OTEL_EXPORTER_OTLP_HEADERS: z
    .string()
    .optional()
    .describe('Headers of each export, name=value separated by commas, such as a key of the tracing backend.'),
  OTEL_SERVICE_NAME: z.string().min(1).default('pipeline').describe('service.name of the exported spans.'),
  HOST: z.string().default('127.0.0.1').describe('Address to listen on; the container images set 0.0.0.0.'),
  PORT: envPort().default(8090).describe('Port to listen on; 0 = any free port.'),
  REQUESTS_PER_MINUTE: envInt(0, 1_000_000)
    .default(1_200)
    .describe('Requests per minute and credential; 0 = no limit.'),
  LOGIN_ATTEMPTS: envInt(0, 1_000_000)
    .default(10)
    .describe(
      'Failed logins per 5 minutes for one username from one address, counting the login route and Basic together. The limit is 3 times as high per address and 10 times as high per username over all addresses; 0 = no limit.',
    ),
  STREAMS_PER_CREDENTIAL: envInt(0, 100_000)
    .default(20)
    .describe('Maximum number of open event streams per credential; 0 = no limit.'),
  STREAMS_IN_ALL: envInt(0, 1_000_000)
    .default(10_000)
    .describe('Maximum number of open event streams of this process; 0 = no limit.'),
  TRUSTED_PROXIES: envInt(0, 10)
    .default(0)
    .describe('Number of reverse proxies whose X-Forwarded-For and X-Forwarded-Host entries are trusted.'),
  MONITOR_URL: http
    .optional()
    .describe(
      'Public URL of the monitor, such as https://monitor.example.org; needed when a reverse proxy changes the Host header. Requests from its origin are allowed, and its host name is accepted while authentication is off.',
    ),
  ALLOW_UNAUTHENTICATED: z
    .enum(['true', 'false'], 'must be true or false')
    .default('false')
    .describe(
      'true: a monitor without agents.monitor.auth may listen on another address than loopback; everyone who reaches the port is then an operator.',
    ),
  ALLOWED_HOSTS: z
    .string()
    .default('')
    .transform((text) =>
      text
        .split(',')
        .map((name) => name.trim())
        .filter((name) => name !== ''),
    )
    .pipe(z.array(z.string().regex(/^[\w.-]+$/, 'must be comma-separated host names without port')))
    .describe(
      'Comma-separated host names that are accepted while authentication is off, in addition to IP addresses, localhost, HOST and the host of MONITOR_URL.',
    ),
};

export type MonitorEnv = z.output<z.ZodObject<typeof monitorEnv & typeof commonEnv>>;
