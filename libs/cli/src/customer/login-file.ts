import { randomBytes } from 'node:crypto';
import { mkdir, open, readFile, rename, stat, unlink } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { StartError } from '@pipeline/runtime';
import { z } from 'zod';
import { ServiceError } from '../command/errors.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** Tokens of a login in a browser. */
const UserLogin = z.object({
  kind: z.literal('user'),
  clientId: z.string(),
  accessToken: z.string(),
  refreshToken: z.string(),
  /** Unix time in milliseconds. */
  expiresAt: z.number(),
});

/** Client credentials; the secret stays in its environment variable. */
const ClientLogin = z.object({ kind: z.literal('client'), clientId: z.string(), secretEnv: z.string() });

const Login = z.discriminatedUnion('kind', [UserLogin, ClientLogin]);
const Logins = z.object({
  version: z.literal(1),
  /** Address of the hosted API that commands use by default. */
  current: z.string().nullable(),
  logins: z.record(z.string(), Login),
});

export type UserLogin = z.output<typeof UserLogin>;
export type Login = z.output<typeof Login>;
export type Logins = z.output<typeof Logins>;

const NONE: Logins = { version: 1, current: null, logins: {} };
const MAX_BYTES = 1024 * 1024;

/** The lock of a process that died is taken after this time. */
const STALE_MS = 15_000;
const RETRIES = { retries: 300, factor: 1, minTimeout: 100, maxTimeout: 100 };

/**
 * The file with the logins of a user, `$XDG_CONFIG_HOME/pipeline/logins.json` (default `~/.config`), mode 0600. It is
 * replaced whole, so that readers need no lock.
 */
export class LoginFile {
  readonly path: string;
  readonly #folder: string;

  constructor(env: Env) {
    const home = env.HOME ?? homedir();
    this.#folder = join(env.XDG_CONFIG_HOME || join(home, '.config'), 'pipeline');
    this.path = join(this.#folder, 'logins.json');
  }

  /** @throws StartError when others can read the file, or when it is damaged. */
  async read(): Promise<Logins> {
    const found = await stat(this.path).catch(ifMissing);
    if (!found) return NONE;
    if (process.platform !== 'win32' && (found.mode & 0o077) !== 0)
      throw new StartError(`other users can read ${this.path}: run chmod 600 on it`);
    if (found.size > MAX_BYTES) throw this.#damaged();
    const text = await readFile(this.path, 'utf8').catch(ifMissing);
    if (text === null) return NONE;
    const parsed = Logins.safeParse(parse(text));
    if (!parsed.success) throw this.#damaged();
    return parsed.data;
  }

  /**
   * Runs a change of the file while no other process changes it. Holds the lock during requests to the service: a
   * refresh token that two processes use ends the connection.
   */
  async locked<T>(change: (logins: Logins, save: (logins: Logins) => Promise<void>) => Promise<T>): Promise<T> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    // Loaded lazily: it installs signal handlers.
    const { lock } = await import('proper-lockfile');
    const options = { realpath: false, stale: STALE_MS, retries: RETRIES };
    const release = await lock(this.path, options).catch((cause: Error) => {
      throw new ServiceError(`${this.path} is locked by another command: ${cause.message}`, { cause });
    });
    try {
      return await change(await this.read(), (logins) => this.#save(logins));
    } finally {
      // A lock that was lost is not there to be released.
      await release().catch(() => undefined);
    }
  }

  async #save(logins: Logins): Promise<void> {
    const draft = `${this.path}.${randomBytes(6).toString('hex')}.tmp`;
    const handle = await open(draft, 'wx', 0o600);
    try {
      await handle.writeFile(`${JSON.stringify(logins, null, 2)}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, this.path).catch(async (error) => {
      await unlink(draft);
      throw error;
    });
  }

  #damaged(): StartError {
    return new StartError(`${this.path} is damaged: delete it and run pipeline login`);
  }
}

const ifMissing = (error: NodeJS.ErrnoException): null => {
  if (error.code === 'ENOENT') return null;
  throw new StartError(`the logins cannot be read: ${error.message}`);
};

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Returns the logins with one of them replaced and made the current one. */
export const withLogin = (logins: Logins, host: string, login: Login): Logins => ({
  ...logins,
  current: host,
  logins: { ...logins.logins, [host]: login },
});

/** Returns the logins without one of them. */
export function withoutLogin(logins: Logins, host: string): Logins {
  const { [host]: _removed, ...rest } = logins.logins;
  const current = logins.current === host ? (Object.keys(rest)[0] ?? null) : logins.current;
  return { ...logins, current, logins: rest };
}
