import { DEFAULT_SETTINGS, parseSlug } from '@pipeline/domain';
import { type Engine, hashPassword, hashToken, putRepo } from '@pipeline/engine';
import { StartError } from '@pipeline/runtime';
import {
  applyRoles,
  ensureTenant,
  insertUser,
  insertWorkerToken,
  isUnavailable,
  migrateToLatest,
  openStore,
  roleName,
  SchemaError,
  type ServiceKind,
  type Store,
} from '@pipeline/store';
import type { StackState } from './state.ts';

export interface ServedRepo {
  slug: string;
  cloneUrl: string;
  defaultBranch: string;
}

/** Database URL with which each service logs in. */
export type ServiceUrls = Record<ServiceKind, string>;

/**
 * Brings the schema of a database up to date and enters tenant, user and worker token, also where they are already:
 * the state of the folder then works with this database too. On a server of the stack's own each service gets a login with
 * data rights alone; roles belong to the whole server, so on any other one the services use the given address.
 * @throws StartError for a database that cannot be reached or whose schema is newer than this code.
 */
export async function prepareDatabase(url: string, state: StackState, isOwnServer: boolean): Promise<ServiceUrls> {
  try {
    await migrateToLatest(url);
    if (isOwnServer) await applyRoles(url, { passwords: state.databasePasswords });
    await withStore(url, (store) => enterState(store, state));
    return isOwnServer ? serviceUrls(url, state) : { hosted_api: url, monitor: url };
  } catch (error) {
    if (error instanceof SchemaError) throw new StartError(error.message, { cause: error });
    if (!isUnavailable(error)) throw error;
    throw new StartError(`the database cannot be reached: ${(error as Error).message || String(error)}`, {
      cause: error,
    });
  }
}

function serviceUrls(ownerUrl: string, { databasePasswords }: StackState): ServiceUrls {
  const urlOf = (kind: ServiceKind) => {
    const url = new URL(ownerUrl);
    [url.username, url.password] = [roleName(kind), databasePasswords[kind]];
    return url.href;
  };
  return { hosted_api: urlOf('hosted_api'), monitor: urlOf('monitor') };
}

async function enterState({ db }: Store, state: StackState): Promise<void> {
  const tenantId = await ensureTenant(db, state.tenant);
  const { email, password } = state.user;
  const passwordHash = await hashPassword(password);
  await insertUser(db, { email, name: 'Demo', passwordHash, tenantId, role: 'owner' });
  const tokenHash = hashToken(state.workerToken);
  await insertWorkerToken(db, { tenantId, name: 'stack', tokenHash, repoIds: null });
}

/** Enables the repos. To be done before the monitor starts, which looks for them then. */
export async function enableRepos(url: string, tenant: string, repos: readonly ServedRepo[]): Promise<void> {
  await withStore(url, async (store) => {
    const tenantId = await ensureTenant(store.db, tenant);
    const engine: Engine = { store, notify: () => undefined, settings: () => DEFAULT_SETTINGS, random: Math.random };
    for (const { slug, cloneUrl, defaultBranch } of repos) {
      await putRepo(engine, tenantId, {
        slug: parseSlug(slug) ?? { owner: '', name: '' },
        vcsHost: 'sandbox',
        cloneUrl,
        defaultBranch,
        setupCommand: null,
        poolSize: null,
        installationId: null,
        enabled: true,
      });
    }
  });
}

async function withStore(databaseUrl: string, work: (store: Store) => Promise<void>): Promise<void> {
  let broken: Error | undefined;
  const store = openStore({
    databaseUrl,
    applicationName: 'stack',
    poolSize: 2,
    onConnectionError: (error) => {
      broken = error;
    },
  });
  try {
    await work(store);
  } catch (error) {
    throw broken === undefined ? error : new AggregateError([error, broken], (error as Error).message);
  } finally {
    await store.close();
  }
}
