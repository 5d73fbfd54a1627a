import { type commonEnv, envInt, envPort } from '@pipeline/runtime';
import { z } from 'zod';

const postgres = z.url({ protocol: /^postgres(ql)?$/, error: 'must be a postgres:// address' });
const http = z.url({ protocol: /^https?$/, error: 'must be an http or https address' });

/** What the monitor reads from its environment, beside what every process understands. */
export const monitorEnv = {
  DATABASE_URL: postgres.optional().describe('The store. Without it every route that needs the store answers 503.'),
  DATABASE_DIRECT_URL: postgres
    .optional()
    .describe('Past a pooler, for doorbell and leads, which no pooler can carry; without it DATABASE_URL.'),
  DATABASE_POOL_SIZE: envInt(2, 500).default(10).describe('Connections of the tenant pool; a quarter more for loops.'),
  PIPELINE_CONFIG: z.string().optional().describe('The YAML file; without it the built-in default.'),
  GITHUB_TOKEN: z.string().optional().describe('What GitHub is asked and written to with.'),
  GITHUB_API_URL: http.default('https://api.github.com').describe('For GitHub Enterprise: https://HOST/api/v3.'),
  SANDBOX_URL: http.optional().describe('A sandbox host, for trials; SANDBOX_TOKEN goes with it.'),
  SANDBOX_TOKEN: z.string().optional().describe('What the sandbox host is asked with.'),
  DOCKER_HOST: z
    .url({ protocol: /^(unix|tcp|https?)$/, error: 'must be like unix:///var/run/docker.sock or tcp://127.0.0.1:2375' })
    .default('unix:///var/run/docker.sock')
    .describe('The Docker engine that restarts agents, for the restart strategy docker.'),
  HOST: z.string().default('127.0.0.1').describe('Address to listen on; 0.0.0.0 in the images.'),
  PORT: envPort().default(8090).describe('Port to listen on; 0 = any that is free.'),
  REQUESTS_PER_MINUTE: envInt(0, 1_000_000).default(1_200).describe('Per credential; 0 = no limit.'),
  LOGIN_ATTEMPTS: envInt(0, 1_000_000)
    .default(10)
    .describe(
      'Failed logins in five minutes for one username from one address, by the login route and Basic together; 3 times as many for an address, 10 times for a username from all addresses; 0 = no limit.',
    ),
  STREAMS_PER_CREDENTIAL: envInt(0, 100_000)
    .default(20)
    .describe('Event streams that one credential may have open at a time; 0 = no limit.'),
  STREAMS_IN_ALL: envInt(0, 1_000_000)
    .default(10_000)
    .describe('Event streams that may be open at a time in this process; 0 = no limit.'),
  TRUSTED_PROXIES: envInt(0, 10)
    .default(0)
    .describe('How many proxies in front are believed about the address of the caller and the host that it named.'),
  MONITOR_URL: http
    .optional()
    .describe(
      'Where browsers reach the monitor, such as https://monitor.example.org, when a proxy in front changes the Host header. Its pages may change things, and its name is served without authentication.',
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
    .pipe(z.array(z.string().regex(/^[\w.-]+$/, 'must be host names without port, separated by commas')))
    .describe(
      'Host names that are served while no authentication is configured, separated by commas; addresses, localhost, HOST and the name in MONITOR_URL always are.',
    ),
};

export type MonitorEnv = z.output<z.ZodObject<typeof monitorEnv & typeof commonEnv>>;
