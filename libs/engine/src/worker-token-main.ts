import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { DEFAULT_TENANT } from '@pipeline/domain';
import { assertSchema, ensureTenant, insertWorkerToken, openStore } from '@pipeline/store';
import { hashToken } from './claim-gate.ts';

const USAGE = `usage: worker-token --name NAME [--tenant ID]
Makes a token for workers and prints it; it is kept nowhere, only its SHA-256 is stored.
  --name NAME   what the token is for, shown where tokens are listed
  --tenant ID   external id of the tenant whose work it may do; made if it is not there; default "${DEFAULT_TENANT}"
DATABASE_URL names the database.
`;
const EXIT_USAGE = 2;
const EXIT_CONFIG = 78;

async function main(): Promise<number> {
  const given = readArguments();
  if (typeof given === 'string') return complain(`${given}\n${USAGE}`, EXIT_USAGE);
  const { DATABASE_URL } = process.env;
  if (!DATABASE_URL) return complain('DATABASE_URL: must be set: must be a postgres:// URL\n', EXIT_CONFIG);
  try {
    process.stdout.write(`${await makeToken(DATABASE_URL, given)}\n`);
    return 0;
  } catch (error) {
    return complain(`no token was made: ${String(error)}\n`, 1);
  }
}

/** The arguments, or what is wrong with them. */
function readArguments(): { name: string; tenant: string } | string {
  try {
    const { values } = parseArgs({
      options: { name: { type: 'string' }, tenant: { type: 'string', default: DEFAULT_TENANT } },
    });
    const { name, tenant } = values;
    return name ? { name, tenant } : '--name must be given';
  } catch (error) {
    return (error as Error).message;
  }
}

async function makeToken(databaseUrl: string, { name, tenant }: { name: string; tenant: string }): Promise<string> {
  const store = openStore({
    databaseUrl,
    applicationName: 'worker-token',
    poolSize: 1,
    onConnectionError: () => undefined, // the statement under way fails with the same error
  });
  try {
    await assertSchema(store.fleet);
    const token = `wrk_at_${randomBytes(32).toString('base64url')}`;
    const tenantId = await ensureTenant(store.fleet, tenant);
    await insertWorkerToken(store.tenant, { tenantId, name, tokenHash: hashToken(token), repoIds: null });
    return token;
  } finally {
    await store.close();
  }
}

function complain(message: string, code: number): number {
  process.stderr.write(message);
  return code;
}

void main().then((code) => {
  process.exitCode = code;
});
