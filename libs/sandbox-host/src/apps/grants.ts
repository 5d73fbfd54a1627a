import { createHash, randomBytes } from 'node:crypto';
import { APP_PERMISSIONS } from '@pipeline/domain';
import { importSPKI, jwtVerify } from 'jose';
import { z } from 'zod';
import { Failure } from '../http/failure.ts';
import type { AppRecord, Grant, InstallationRecord, Permission, Permissions } from '../state/app-records.ts';
import { GLOBAL, type RepoRecord, type Sandbox } from '../state/model.ts';
import { change, putUser, timestamp } from '../state/sandbox.ts';

const login = z.string().regex(/^[A-Za-z0-9._-]{1,90}$/, 'a login has letters, digits, ".", "_" and "-"');

export const PERMISSIONS = [
  'actions',
  'administration',
  'checks',
  'contents',
  'issues',
  'metadata',
  'pull_requests',
  'statuses',
  'workflows',
] as const satisfies readonly Permission[];

/**
 * Returns the rights of an app in the repos of its installations; they always include reading about the repo itself.
 */
export const permissionsOf = ({ permissions = APP_PERMISSIONS }: AppRecord): Permissions => ({
  ...permissions,
  metadata: 'read',
});

export const NewApp = z.object({
  id: z.int().positive(),
  slug: login,
  /** PEM of the RSA key with which the app's requests are checked. */
  publicKey: z.string().includes('PUBLIC KEY'),
  /** Rights of the app where it is installed. */
  permissions: z.partialRecord(z.enum(PERMISSIONS), z.enum(['read', 'write'])).optional(),
  /** Owners that have installed it, for all of their repos. */
  owners: z.array(login).min(1),
});
export type NewApp = z.input<typeof NewApp>;

const TOKEN_LIVES_MS = 60 * 60_000;
/** The host takes assertions that end at most ten minutes from now. */
const MAX_ASSERTION_S = 10 * 60;

/** Adds an app with its installations, or gives a known one another key. It writes as `<slug>[bot]`. */
export function addApp(sandbox: Sandbox, input: NewApp): AppRecord {
  const { id, slug, publicKey, owners, permissions } = NewApp.parse(input);
  const { state } = sandbox;
  return change(sandbox, () => {
    const record: AppRecord = {
      id,
      slug,
      publicKey,
      createdAt: timestamp(sandbox),
      ...(permissions && { permissions: permissions as Permissions }),
    };
    putUser(sandbox, { login: botOf(record), type: 'Bot' });
    state.put('app', GLOBAL, record);
    const known = state.list('installation', GLOBAL).filter((installation) => installation.appId === id);
    for (const owner of owners) {
      if (known.some((installation) => installation.owner.toLowerCase() === owner.toLowerCase())) continue;
      const installation = { id: state.nextId(), appId: id, owner, createdAt: timestamp(sandbox) };
      state.put('installation', GLOBAL, installation);
    }
    return record;
  });
}

/** The login an app writes with. */
export const botOf = ({ slug }: Pick<AppRecord, 'slug'>): string => `${slug}[bot]`;

/** The app whose assertion this is. @throws Failure 401 or 404, in the host's words. */
export async function appOf(sandbox: Sandbox, authorization: string | undefined): Promise<AppRecord> {
  const assertion = /^bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
  if (assertion === undefined) throw undecodable();
  const app = sandbox.state.get('app', GLOBAL, issuerOf(assertion));
  if (!app || app.publicKey === '') throw new Failure(404, 'Integration not found');
  const now = sandbox.now();
  const verified = await jwtVerify(assertion, await importSPKI(app.publicKey, 'RS256'), {
    algorithms: ['RS256'],
    requiredClaims: ['iat', 'exp'],
    currentDate: now,
    clockTolerance: 5,
  }).catch(() => {
    throw undecodable();
  });
  if (Number(verified.payload.exp) > now.getTime() / 1000 + MAX_ASSERTION_S) {
    throw new Failure(401, "'Expiration time' claim ('exp') is too far in the future");
  }
  return app;
}

const undecodable = (): Failure => new Failure(401, 'A JSON web token could not be decoded');

function issuerOf(assertion: string): number {
  try {
    const claims: unknown = JSON.parse(Buffer.from(assertion.split('.')[1] ?? '', 'base64url').toString('utf8'));
    return z.object({ iss: z.coerce.number().int() }).parse(claims).iss;
  } catch {
    throw undecodable();
  }
}

/** Makes a token of an installation. Only its hash is kept. */
export function addGrant(
  sandbox: Sandbox,
  installation: InstallationRecord,
  { repos, permissions }: { repos: readonly RepoRecord[] | null; permissions: Grant['permissions'] },
): { token: string; expiresAt: string } {
  const token = `ghs_${randomBytes(27).toString('base64url')}`;
  const expiresAt = new Date(sandbox.now().getTime() + TOKEN_LIVES_MS).toISOString().replace(/\.\d{3}Z$/, 'Z');
  const { state } = sandbox;
  const { appId, owner, repoIds: installedOn = null } = installation;
  change(sandbox, () => {
    const id = state.nextId();
    const repoIds = repos?.map((repo) => repo.id) ?? installedOn;
    const bot = botOf(state.get('app', GLOBAL, appId) ?? { slug: '' }).toLowerCase();
    for (const repo of state.list('repo', GLOBAL).filter((each) => reaches({ repoIds, owner }, each))) {
      if (repo.collaborators[bot] === 'write') continue;
      state.put('repo', GLOBAL, { ...repo, collaborators: { ...repo.collaborators, [bot]: 'write' } });
    }
    state.put('grant', GLOBAL, { id, appId, owner, tokenHash: hashOf(token), repoIds, permissions, expiresAt });
  });
  return { token, expiresAt };
}

/** Returns the grant of a token of an installation; undefined for any other token, and for one that has expired. */
export function grantOf(sandbox: Sandbox, token: string): Grant | undefined {
  if (!token.startsWith('ghs_')) return undefined;
  const hash = hashOf(token);
  const found = sandbox.state.list('grant', GLOBAL).find((grant) => grant.tokenHash === hash);
  if (!found || Date.parse(found.expiresAt) <= sandbox.now().getTime()) return undefined;
  const { appId, owner } = found;
  const isOf = (each: InstallationRecord) => each.appId === appId && each.owner.toLowerCase() === owner.toLowerCase();
  const installation = sandbox.state.list('installation', GLOBAL).find(isOf);
  // Tokens of a deleted installation end with it.
  if (installation) requireActive(installation);
  return installation && found;
}

/** @throws Failure 403 in the host's words. */
export function requireActive({ suspendedAt }: InstallationRecord): void {
  if (suspendedAt !== undefined) throw new Failure(403, 'This installation has been suspended');
}

export const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex');

const RANK = { none: 0, read: 1, write: 2 } as const;

/** Returns whether a grant holds for this repo and this right. */
export const grants = (grant: Grant, repo: RepoRecord, right: Permission, level: 'read' | 'write') =>
  reaches(grant, repo) && RANK[grant.permissions[right] ?? 'none'] >= RANK[level];

export const reaches = (grant: Pick<InstallationRecord, 'repoIds' | 'owner'>, repo: RepoRecord): boolean =>
  grant.repoIds?.includes(repo.id) ?? grant.owner.toLowerCase() === repo.owner.toLowerCase();
