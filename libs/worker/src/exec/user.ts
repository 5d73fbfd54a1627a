import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** User of this machine that programs run as. */
export interface RunAs {
  name: string;
  uid: number;
  gid: number;
  home: string;
}

/**
 * @returns the user that programs run as. @throws Error when the user is unknown or root, or when the runner is not root.
 */
export function runAs(name: string): RunAs {
  if (process.getuid?.() !== 0) throw new Error('--user: only root can run programs as another user');
  const [, , uid = '', gid = '', , home = '/'] = entryOf(name).split(':');
  const user = { name, uid: Number(uid), gid: Number(gid), home };
  if (uid === '' || !Number.isInteger(user.uid) || !Number.isInteger(user.gid)) {
    throw new Error(`--user: user ${name} does not exist`);
  }
  if (user.uid === 0) throw new Error('--user: must not be root, because root programs can read the token');
  return user;
}

/** Returns the entry of the user database; with `getent` also for users of LDAP and other sources. */
function entryOf(name: string): string {
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
  const local = lines.find((line) => line.startsWith(`${name}:`));
  if (local !== undefined) return local;
  try {
    return execFileSync('getent', ['passwd', '--', name], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return '';
  }
}

/** Options of `spawn` that run a program as this user, without the groups of the runner. */
export const spawnAs = (user: RunAs | null): { uid?: number; gid?: number } =>
  user === null ? {} : { uid: user.uid, gid: user.gid };

/** Variables that a login sets; the rest of the environment is that of the runner. */
export const envOf = (user: RunAs | null): Record<string, string> =>
  user === null ? {} : { HOME: user.home, USER: user.name, LOGNAME: user.name };
