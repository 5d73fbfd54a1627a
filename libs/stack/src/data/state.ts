import { randomBytes } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DEFAULT_TENANT } from '@pipeline/domain';
import { StartError } from '@pipeline/runtime';
import { z } from 'zod';

const FILE = 'stack.json';

const login = z.object({ login: z.string(), token: z.string() });
const port = z.int().min(1).max(65_535);

const cookieKey = () => randomBytes(32).toString('hex');
const databasePasswords = () => ({
  hosted_api: randomBytes(18).toString('hex'),
  monitor: randomBytes(18).toString('hex'),
});

const State = z.object({
  tenant: z.string(),
  monitor: z.object({ username: z.string(), password: z.string() }),
  /** A product user of the hosted API. */
  user: z.object({ email: z.string(), password: z.string() }),
  workerToken: z.string(),
  webhookSecret: z.string(),
  /** Signs cookies of the hosted API; folders of older starts have none yet. */
  cookieKey: z.string().default(cookieKey),
  /** Passwords with which the services log in to the embedded Postgres; folders of older starts have none yet. */
  databasePasswords: z.object({ hosted_api: z.string(), monitor: z.string() }).default(databasePasswords),
  sandbox: z.object({ adminToken: z.string(), bot: login, person: login, agent: login }),
  /** Ports of the last start. */
  ports: z.object({ hosted: port, monitor: port, sandbox: port, postgres: port }).nullable(),
  /** `owner/name` on the sandbox host, and where its content came from. */
  repos: z.array(z.object({ slug: z.string(), source: z.string() })),
});

/**
 * State that outlives a restart: names, secrets, addresses and repos. Kept in `<data-dir>/stack.json`, for its owner
 * only.
 */
export type StackState = z.output<typeof State>;

const secret = () => randomBytes(18).toString('base64url');

const newState = (): StackState => ({
  tenant: DEFAULT_TENANT,
  monitor: { username: 'operator', password: secret() },
  user: { email: 'demo@example.org', password: secret() },
  workerToken: `wrk_at_${randomBytes(32).toString('base64url')}`,
  webhookSecret: secret(),
  cookieKey: cookieKey(),
  databasePasswords: databasePasswords(),
  sandbox: {
    adminToken: secret(),
    bot: { login: 'pipeline-bot', token: secret() },
    person: { login: 'demo-person', token: secret() },
    agent: { login: 'demo-agent', token: secret() },
  },
  ports: null,
  repos: [],
});

/**
 * The state of the data folder; a new one where there is none.
 * @throws StartError for a file that cannot be read or is not ours.
 */
export async function loadState(dataDir: string): Promise<StackState> {
  const file = join(dataDir, FILE);
  try {
    return State.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return newState();
    const why = cause instanceof z.ZodError ? z.prettifyError(cause) : (cause as Error).message;
    throw new StartError(`${file} cannot be used: ${why}\nRepair the file, or start over with --fresh`, { cause });
  }
}

/** Replaces the file as a whole, so that a crash leaves the old one or the new one. */
export async function saveState(dataDir: string, state: StackState): Promise<void> {
  const file = join(dataDir, FILE);
  const fresh = `${file}.new`;
  // One that a crash has left may have other rights.
  await rm(fresh, { force: true });
  await writeFile(fresh, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
  await rename(fresh, file);
}
