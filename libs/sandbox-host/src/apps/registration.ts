import { generateKeyPair, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { roleOf } from '../access/roles.ts';
import { Failure, notFound } from '../http/failure.ts';
import type { AppRecord, Permissions } from '../state/app-records.ts';
import { GLOBAL, type Sandbox, type UserRecord } from '../state/model.ts';
import { change, putUser, timestamp, userByToken } from '../state/sandbox.ts';
import { botOf, hashOf } from './grants.ts';
import type { Manifest } from './manifest.ts';

const CODE_LIVES_MS = 60 * 60_000;

/**
 * Returns the person of a token typed into a page, in place of a login.
 * @throws Failure 401 for another token; 403 when the person neither is the account nor administers one of its repositories.
 */
export function requireOwner(sandbox: Sandbox, token: string, owner?: string): UserRecord {
  const user = userByToken(sandbox, token);
  if (user?.type !== 'User') throw new Failure(401, 'Bad credentials');
  if (owner === undefined || same(owner, user.login)) return user;
  const repos = sandbox.state.list('repo', GLOBAL).filter((repo) => same(repo.owner, owner));
  if (repos.some((repo) => roleOf(repo, user.login) === 'admin')) return user;
  throw new Failure(403, `${user.login} does not own ${owner} and administers none of its repositories`);
}

/**
 * Creates an app from a manifest. Its secrets are created when the code is converted.
 * @returns the code, valid for one hour and one use.
 * @throws Failure 422 when the name is taken.
 */
export function registerApp(sandbox: Sandbox, manifest: Manifest, { name, owner }: { name: string; owner: string }) {
  const { state } = sandbox;
  const slug = slugOf(name);
  if (slug === '') throw new Failure(422, 'Name is invalid');
  if (state.list('app', GLOBAL).some((app) => app.slug === slug) || state.findUser(slug)) {
    throw new Failure(422, 'Name has already been taken');
  }
  const code = randomBytes(20).toString('hex');
  change(sandbox, () => {
    const at = timestamp(sandbox);
    const app: AppRecord = {
      id: state.nextId(),
      slug,
      name,
      owner,
      publicKey: '',
      createdAt: at,
      homepage: manifest.url,
      events: manifest.default_events,
      permissions: manifest.default_permissions as Permissions,
    };
    state.put('app', GLOBAL, app);
    putUser(sandbox, { login: botOf(app), type: 'Bot' });
    const hook = manifest.hook_attributes;
    // Without a secret nothing is sent yet.
    if (hook?.active) state.put('hook', GLOBAL, { id: state.nextId(), url: hook.url, secret: '', appId: app.id });
    state.put('conversion', GLOBAL, { id: state.nextId(), codeHash: hashOf(code), appId: app.id, createdAt: at });
  });
  return code;
}

/** Secrets of an app, which the host shows once. */
interface AppSecrets {
  app: AppRecord;
  pem: string;
  webhookSecret: string | null;
}

/** Exchanges the code of a registration. @throws Failure 404 for a code that is unknown, used or older than an hour. */
export async function convertCode(sandbox: Sandbox, code: string): Promise<AppSecrets> {
  const { state } = sandbox;
  const { publicKey, privateKey: pem } = await promisify(generateKeyPair)('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  });
  return change(sandbox, () => {
    const hash = hashOf(code);
    const found = state.list('conversion', GLOBAL).find(({ codeHash }) => codeHash === hash);
    const known = found && state.get('app', GLOBAL, found.appId);
    if (!known || sandbox.now().getTime() - Date.parse(found.createdAt) > CODE_LIVES_MS) throw notFound();
    state.remove('conversion', GLOBAL, found.id);
    const app = { ...known, publicKey };
    state.put('app', GLOBAL, app);
    const hook = state.list('hook', GLOBAL).find(({ appId }) => appId === app.id);
    const webhookSecret = hook ? randomBytes(20).toString('hex') : null;
    if (hook && webhookSecret) state.put('hook', GLOBAL, { ...hook, secret: webhookSecret });
    return { app, pem, webhookSecret };
  });
}

const slugOf = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');

const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();
