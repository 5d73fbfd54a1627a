import { parseArgs } from 'node:util';
import { DEFAULT_SETTINGS, DEFAULT_TENANT } from '@pipeline/domain';
import { withSecretFiles } from '@pipeline/runtime/secret-files';
import {
  assertSchema,
  DatabaseUrl,
  ensureTenant,
  isRefusedLogin,
  isUnavailable,
  openStore,
  SchemaError,
} from '@pipeline/store';
import { type Admin, machineUser } from '../context/admin.ts';
import { createWorkerToken, revokeWorkerTokens } from './worker-tokens.ts';

/** The short form of `pipeline admin worker-token`, kept for scripts that call it. */
const USAGE = `usage: worker-token --name NAME [--expires WHEN | --revoke] [--tenant ID]
Makes a token for workers and prints it; it is kept nowhere, only its SHA-256 is stored.
  --name NAME   what the token is for, shown where tokens are listed
  --expires WHEN  after how long (30d, 12h) or from when (2027-01-31) it is refused; default never
  --revoke      make none: revoke those of that name; they end within two seconds, and their workers' names are free
  --tenant ID   external id of the tenant whose work it may do; made if it is not there; default "${DEFAULT_TENANT}"
Set DATABASE_URL to the database, or DATABASE_URL_FILE to a file with it.
`;
const EXIT_USAGE = 2;
const EXIT_UNAVAILABLE = 69;
const EXIT_CONFIG = 78;

async function main(): Promise<number> {
  const given = readArguments();
  if (typeof given === 'string') return complain(`${given}\n${USAGE}`, EXIT_USAGE);
  const { DATABASE_URL } = withSecretFiles(process.env);
  const url = DatabaseUrl.safeParse(DATABASE_URL ?? '');
  if (!url.success) return complain(`DATABASE_URL: must be set: ${url.error.issues[0]?.message}\n`, EXIT_CONFIG);
  try {
    const work = given.revoke ? revokeTokens : makeToken;
    process.stdout.write(`${await withStore(url.data, (admin) => work(admin, given))}\n`);
    return 0;
  } catch (error) {
    return complain(`no token was ${given.revoke ? 'revoked' : 'made'}: ${String(error)}\n`, exitCodeOf(error));
  }
}

function exitCodeOf(error: unknown): number {
  if (error instanceof SchemaError || isRefusedLogin(error)) return EXIT_CONFIG;
  return isUnavailable(error) ? EXIT_UNAVAILABLE : 1;
}

interface Given {
  name: string;
  tenant: string;
  revoke: boolean;
  expires: string | null;
}

/** The arguments, or the usage error. */
function readArguments(): Given | string {
  try {
    const { values } = parseArgs({
      options: {
        name: { type: 'string' },
        tenant: { type: 'string', default: DEFAULT_TENANT },
        revoke: { type: 'boolean', default: false },
        expires: { type: 'string' },
      },
    });
    const { name, tenant, revoke, expires = null } = values;
    if (revoke && expires !== null) return '--expires is for a new token, not for --revoke';
    return name ? { name, tenant, revoke, expires } : '--name is required';
  } catch (error) {
    return (error as Error).message;
  }
}

async function withStore<T>(databaseUrl: string, work: (admin: Admin) => Promise<T>): Promise<T> {
  const store = openStore({
    databaseUrl,
    applicationName: 'worker-token',
    poolSize: 1,
    onConnectionError: () => undefined, // the statement in flight fails with the same error
  });
  try {
    await assertSchema(store.db);
    const engine = { store, notify: () => undefined, settings: () => DEFAULT_SETTINGS, random: Math.random };
    return await work({ engine, actor: machineUser(), reason: null });
  } finally {
    await store.close();
  }
}

/** The command has always created a missing organisation. */
async function makeToken(admin: Admin, { name, tenant: org, expires }: Given): Promise<string> {
  await ensureTenant(admin.engine.store.db, org);
  return (await createWorkerToken(admin, { org, name, repos: [], expires })).token;
}

/** @returns the text to print. @throws AppError when there is no such token. */
async function revokeTokens(admin: Admin, { name, tenant: org }: Given): Promise<string> {
  return `${(await revokeWorkerTokens(admin, { org, name })).revoked} revoked`;
}

function complain(message: string, code: number): number {
  process.stderr.write(message);
  return code;
}

void main().then((code) => {
  process.exitCode = code;
});
