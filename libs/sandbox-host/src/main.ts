import { parseArgs } from 'node:util';
import { withSecretFiles } from '@pipeline/runtime/secret-files';
import { z } from 'zod';
import { NewApp } from './apps/grants.ts';
import { NewOauthApp } from './apps/oauth-apps.ts';
import { NewHook, NewRepo, NewUser } from './repos/admin.ts';
import { startSandbox } from './server.ts';

/*
 * The sandbox host as a process of its own. Settings come from the environment, NAME_FILE names a file with the value of
 * NAME; --port and --data-dir win over it.
 * stdout gets one JSON line once it listens, `{"url": …}`; the log goes to stderr as JSON lines. SIGTERM ends it.
 */

const list = <T extends z.ZodType>(item: T) =>
  z
    .string()
    .default('[]')
    .transform((text, context) => {
      try {
        return JSON.parse(text) as unknown;
      } catch {
        context.addIssue('must be a JSON array');
        return z.NEVER;
      }
    })
    .pipe(z.array(item));

const Settings = z.object({
  SANDBOX_PORT: z.coerce.number().int().min(0).max(65_535).default(0),
  SANDBOX_HOST: z.string().default('127.0.0.1'),
  SANDBOX_DATA_DIR: z.string({ error: 'must be set: the data directory' }).min(1),
  SANDBOX_PUBLIC_URL: z.url().optional(),
  /** Address of the monitor, for links on the pages of issues. */
  SANDBOX_MONITOR_URL: z.url().optional(),
  SANDBOX_ADMIN_TOKEN: z.string().min(8).optional(),
  /** `[{"login", "token", "type"}]` */
  SANDBOX_TOKENS: list(NewUser),
  /** `[{"slug", "source", "collaborators"}]` */
  SANDBOX_REPOS: list(NewRepo),
  /** `[{"id", "slug", "publicKey", "owners"}]` */
  SANDBOX_APPS: list(NewApp),
  /** `[{"name", "clientId", "clientSecret", "callbackUrl"}]` */
  SANDBOX_OAUTH_APPS: list(NewOauthApp),
  /** `[{"url", "secret"}]` */
  SANDBOX_WEBHOOKS: list(NewHook),
  SANDBOX_AUTO_DELIVER: z.stringbool().default(true),
  PATH: z.string().optional(),
});

function readSettings(): z.output<typeof Settings> | null {
  const { values } = parseArgs({ options: { port: { type: 'string' }, 'data-dir': { type: 'string' } } });
  const given = {
    ...withSecretFiles(process.env),
    ...(values.port === undefined ? {} : { SANDBOX_PORT: values.port }),
    ...(values['data-dir'] === undefined ? {} : { SANDBOX_DATA_DIR: values['data-dir'] }),
  };
  const { data, error } = Settings.safeParse(given);
  if (data) return data;
  for (const issue of error.issues) process.stderr.write(`${issue.path.join('.')}: ${issue.message}\n`);
  return null;
}

const say = (level: string) => (message: string) => {
  process.stderr.write(`${JSON.stringify({ time: new Date().toISOString(), level, message })}\n`);
};

async function main(): Promise<void> {
  const settings = readSettings();
  if (!settings) {
    process.exitCode = 78;
    return;
  }
  const host = await startSandbox({
    dataDir: settings.SANDBOX_DATA_DIR,
    port: settings.SANDBOX_PORT,
    host: settings.SANDBOX_HOST,
    users: settings.SANDBOX_TOKENS,
    repos: settings.SANDBOX_REPOS,
    apps: settings.SANDBOX_APPS,
    oauthApps: settings.SANDBOX_OAUTH_APPS,
    webhooks: settings.SANDBOX_WEBHOOKS,
    autoDeliver: settings.SANDBOX_AUTO_DELIVER,
    log: { info: say('info'), warn: say('warn') },
    ...(settings.SANDBOX_PUBLIC_URL ? { publicUrl: settings.SANDBOX_PUBLIC_URL } : {}),
    ...(settings.SANDBOX_MONITOR_URL ? { monitorUrl: settings.SANDBOX_MONITOR_URL } : {}),
    ...(settings.SANDBOX_ADMIN_TOKEN ? { adminToken: settings.SANDBOX_ADMIN_TOKEN } : {}),
    ...(settings.PATH ? { searchPath: settings.PATH } : {}),
  });
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void host.stop());
  process.stdout.write(`${JSON.stringify({ url: host.url })}\n`);
}

try {
  await main();
} catch (error) {
  say('error')(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
