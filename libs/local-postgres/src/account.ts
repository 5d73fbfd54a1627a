import { chown, readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Account that is not root, with what it takes to run a program as it. */
export interface Account {
  /** Put before the program and its arguments. */
  prefix: string[];
  /** Options for spawn. */
  ids: { uid?: number; gid?: number };
  /** Hands a file or folder to the account. */
  own(path: string): Promise<void>;
  /** A folder that the account enters by a capability only; null = it may enter all that it needs. */
  closed: string | null;
}

const SELF: Account = { prefix: [], ids: {}, own: async () => {}, closed: null };

/**
 * Postgres refuses to run as root. Root runs it as the existing user `postgres`, else `nobody`; everyone else as
 * themselves. No user is created. A checkout under root's closed home folder cannot be read by that user: there the
 * program gets the one capability to look into folders, by setpriv.
 * @param paths the folders that the program must reach.
 * @throws Error when root has no such user on this machine.
 */
export async function postgresAccount(paths: string[]): Promise<Account> {
  if (process.getuid?.() !== 0) return SELF;
  const { uid, gid } = await unprivilegedUser();
  const own = (path: string) => chown(path, uid, gid);
  const found = await Promise.all(paths.map((path) => closedFolder(path, uid, gid)));
  const closed = found.find((folder) => folder !== null) ?? null;
  if (closed === null) return { prefix: [], ids: { uid, gid }, own, closed };
  const capability = '-all,+dac_read_search';
  const identity = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'];
  const prefix = ['setpriv', ...identity, `--inh-caps=${capability}`, `--ambient-caps=${capability}`, '--'];
  return { prefix, ids: {}, own, closed };
}

async function unprivilegedUser(): Promise<{ uid: number; gid: number }> {
  const lines = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  for (const wanted of ['postgres', 'nobody']) {
    const [, , uid, gid] = lines.find(([name]) => name === wanted) ?? [];
    if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new Error('Postgres does not run as root, and there is no user postgres or nobody: start as an ordinary user');
}

/** @returns the folder nearest to `path`, itself included, that does not let the user through; null = none. */
async function closedFolder(path: string, uid: number, gid: number): Promise<string | null> {
  for (let folder = path; ; folder = dirname(folder)) {
    const { mode, uid: owner, gid: group } = await stat(folder);
    const bit = owner === uid ? 0o100 : group === gid ? 0o010 : 0o001;
    if ((mode & bit) === 0) return folder;
    if (folder === dirname(folder)) return null;
  }
}
