import type { RepoRef } from '@pipeline/domain';
import { slugKey } from '@pipeline/domain';
import type { Client } from './client.ts';
import { answered } from './errors.ts';

type Permission = 'admin' | 'write' | 'read' | 'none';

const KEPT_MS = 5 * 60_000;
const MAX_ENTRIES = 10_000;

/**
 * Asks the host for a person's right and keeps the answer for 5 minutes.
 * @returns a reader; who is no collaborator or does not exist has the right `none`.
 */
export function createPermissions(client: Client, now: () => Date) {
  const kept = new Map<string, { permission: Permission; until: number }>();

  return async (repo: RepoRef, login: string): Promise<Permission> => {
    const key = `${slugKey(repo)}@${login.toLowerCase()}`;
    const known = kept.get(key);
    if (known && known.until > now().getTime()) return known.permission;
    const permission = await ask(client, repo, login);
    kept.delete(key);
    // Insertion order is age, so the first key is the oldest.
    const oldest = kept.size >= MAX_ENTRIES ? kept.keys().next().value : undefined;
    if (oldest !== undefined) kept.delete(oldest);
    kept.set(key, { permission, until: now().getTime() + KEPT_MS });
    return permission;
  };
}

async function ask(client: Client, repo: RepoRef, username: string): Promise<Permission> {
  try {
    const params = { owner: repo.owner, repo: repo.name, username };
    const { permission } = (await client.rest.repos.getCollaboratorPermissionLevel(params)).data;
    return permission === 'admin' || permission === 'write' || permission === 'read' ? permission : 'none';
  } catch (error) {
    if (answered(error, 404)) return 'none';
    throw error;
  }
}
