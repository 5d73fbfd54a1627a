import { parseArgs } from 'node:util';
import { withSecretFiles } from '@pipeline/runtime/secret-files';
import { z } from 'zod';
import { DatabaseUrl } from '../driver/database-url.ts';
import { isRefusedLogin, isUnavailable } from '../driver/store-errors.ts';
import { distribute, printDistribution } from './distribute.ts';
import { migrateToLatest } from './schema.ts';
import { applyRoles, DEFAULT_ROLE_PREFIX, ROLE_PREFIX, type RoleReport } from './service-roles.ts';

const WAIT_MS = 30_000;
const EXIT_USAGE = 2;
const EXIT_CONFIG = 78;

const USAGE = `usage: migrate [--distribute [--plan]]
Brings the schema of the database at DATABASE_URL to this release, and prepares the roles of the services. It waits up to
30 seconds for the server, and prints one line of JSON. Running it again changes nothing. The other variables are in
docs/reference/environment.md.
--distribute  also distributes the tables by tenant, on a PostgreSQL with Citus; tables that are distributed are left as they are.
--plan        prints the statements of --distribute instead, and changes nothing.
Exit status: 0 done, 1 it failed (see \`error\`), 2 wrong usage, 78 wrong setting.
`;

const password = z.string().min(1).optional();
const Env = z.object({
  DATABASE_URL: DatabaseUrl,
  DATABASE_DIRECT_URL: DatabaseUrl.optional(),
  DATABASE_ROLE_PREFIX: z
    .string()
    .regex(ROLE_PREFIX, 'must be lower-case letters, digits and underscores')
    .default(DEFAULT_ROLE_PREFIX),
  HOSTED_API_DATABASE_PASSWORD: password,
  MONITOR_DATABASE_PASSWORD: password,
});
type Env = z.output<typeof Env>;

/** Blocks the thread: this command does nothing else, and needs no timers of the services. */
const pause = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 250);

/** Waits for a server that is starting up; any other error ends the command at once. */
async function migrateWhenReachable(url: string): ReturnType<typeof migrateToLatest> {
  const deadline = Date.now() + WAIT_MS;
  for (;;) {
    try {
      return await migrateToLatest(url);
    } catch (error) {
      if (isRefusedLogin(error) || !isUnavailable(error) || Date.now() > deadline) throw error;
      pause();
    }
  }
}

/** Roles of the services; with a password in the environment, a service logs in as its role. */
async function prepareRoles(url: string, env: Env): Promise<RoleReport> {
  const passwords = {
    ...(env.HOSTED_API_DATABASE_PASSWORD && { hosted_api: env.HOSTED_API_DATABASE_PASSWORD }),
    ...(env.MONITOR_DATABASE_PASSWORD && { monitor: env.MONITOR_DATABASE_PASSWORD }),
  };
  const report = await applyRoles(url, { prefix: env.DATABASE_ROLE_PREFIX, passwords });
  if (report.missing.length > 0) {
    process.stderr.write(
      `these roles do not exist and this login cannot create them: ${report.missing.join(', ')}. Services that log in as the ` +
        `owner can change the schema. To prevent this, run as an administrator ` +
        `"${report.missing.map((role) => `create role ${role} nologin`).join('; ')}", migrate again, and grant each role ` +
        `to the login of its service.\n`,
    );
  }
  return report;
}

/** An empty value counts as not set, as with the services. */
const present = () =>
  Object.fromEntries(Object.entries(withSecretFiles(process.env)).filter(([, value]) => value !== ''));

interface Wanted {
  help: boolean;
  distribute: boolean;
  plan: boolean;
}

/** @returns undefined for wrong usage. */
function parsed(args: readonly string[]): Wanted | undefined {
  const options = {
    help: { type: 'boolean', short: 'h', default: false },
    distribute: { type: 'boolean', default: false },
    plan: { type: 'boolean', default: false },
  } as const;
  try {
    const { values } = parseArgs({ args: [...args], options });
    return values.plan && !values.distribute ? undefined : values;
  } catch {
    return undefined;
  }
}

/** @returns the line to print. */
async function migrateAll(url: string, env: Env, wanted: Wanted): Promise<string> {
  const report = await migrateWhenReachable(url);
  const roles = await prepareRoles(url, env);
  const placed = wanted.distribute ? { distributed: await distribute(url) } : {};
  return `${JSON.stringify({ ok: true, ...report, roles, ...placed })}\n`;
}

/** A function instead of top-level awaits, which the CommonJS bundle does not support. */
async function main(args: readonly string[]): Promise<void> {
  const wanted = parsed(args);
  if (wanted === undefined || wanted.help) {
    (wanted ? process.stdout : process.stderr).write(USAGE);
    process.exitCode = wanted ? 0 : EXIT_USAGE;
    return;
  }
  const env = Env.safeParse(present());
  if (!env.success) {
    for (const { path, message } of env.error.issues) process.stderr.write(`${path.join('.')}: ${message}\n`);
    process.exitCode = EXIT_CONFIG;
    return;
  }
  try {
    const url = env.data.DATABASE_DIRECT_URL ?? env.data.DATABASE_URL;
    process.stdout.write(await (wanted.plan ? printDistribution(url) : migrateAll(url, env.data, wanted)));
  } catch (error) {
    const cause = error instanceof Error && error.cause !== undefined ? `: ${String(error.cause)}` : '';
    process.stdout.write(`${JSON.stringify({ ok: false, error: `${String(error)}${cause}` })}\n`);
    process.exitCode = 1;
  }
}

void main(process.argv.slice(2));
