import { AsyncLocalStorage } from 'node:async_hooks';
import { grantConnection, hashTokenBytes } from '@pipeline/engine';
import {
  type Account,
  bindConnection,
  CREDENTIALS_CLIENT,
  connectionOfClient,
  consumeArtifact,
  consumeToken,
  deleteArtifact,
  deleteToken,
  findArtifact,
  findClient,
  findGrantPayload,
  findToken,
  insertClient,
  insertToken,
  type Organisation,
  type Store,
  saveArtifact,
  type TokenKind,
  touchConnection,
} from '@pipeline/store';
import type { Adapter, AdapterFactory, AdapterPayload } from 'oidc-provider';
import { type PublicAddress, SCOPE } from '../auth/public-address.ts';
import type { TokenRequests } from './token-requests.ts';

/** Consent of a user, beyond the facts that the OAuth library stores about a grant. */
interface Consent {
  account: Account;
  organisation: Organisation;
  clientName: string;
}

/** Carries a consent to the adapter, past the library, whose grants have no place for it. */
export type Consents = AsyncLocalStorage<Consent>;

/** The OAuth library, loaded when it is first used. */
export type OauthLibrary = typeof import('oidc-provider');

export interface AdapterDeps {
  library: OauthLibrary;
  store: Store;
  tokenRequests: TokenRequests;
  consents: Consents;
  address: PublicAddress;
}

const TOKEN_KINDS: readonly string[] = ['AccessToken', 'RefreshToken', 'AuthorizationCode'] satisfies TokenKind[];

const nothing = async () => undefined;
/** Kinds of lookup that no model here uses, and what tokens and grants leave to their connection. */
const REST = {
  findByUserCode: nothing,
  findByUid: nothing,
  consume: nothing,
  destroy: nothing,
  revokeByGrantId: nothing,
};

/** Returns the storage adapter of the OAuth library by the name of a model. */
export function adapters(deps: AdapterDeps): AdapterFactory {
  return (model) => {
    if (TOKEN_KINDS.includes(model)) return tokenAdapter(model as TokenKind, deps);
    if (model === 'ClientCredentials') return clientCredentialsAdapter(deps);
    if (model === 'Grant') return connectionAdapter(deps);
    if (model === 'Client') return clientAdapter(deps);
    return artifactAdapter(model, deps);
  };
}

/** A payload holds the token itself as `jti`: it is left out of the store, and added again from the presented token. */
function tokenAdapter(kind: TokenKind, { library: { errors }, tokenRequests }: AdapterDeps): Adapter {
  return {
    ...REST,
    async upsert(id, { jti: _secret, ...payload }, expiresIn = 0) {
      const db = await tokenRequests.db();
      const connectionId = payload.grantId ?? '';
      await insertToken(db, { hash: hashTokenBytes(id), kind, connectionId, payload, ttlMs: expiresIn * 1000 });
      if (kind === 'AccessToken') await touchConnection(db, connectionId);
    },
    async find(id) {
      const found = await findToken(await tokenRequests.db(), kind, hashTokenBytes(id));
      if (found?.payload.kind !== kind) return undefined;
      const { payload, consumedAt } = found;
      const consumed = consumedAt === null ? {} : { consumed: Math.floor(Date.parse(consumedAt) / 1000) };
      return { ...payload, ...consumed, jti: id } as AdapterPayload;
    },
    async consume(id) {
      const db = await tokenRequests.db();
      if (await consumeToken(db, hashTokenBytes(id))) return;
      // The library found it unused, and another request has used it since: a reuse like any later one.
      const found = await findToken(db, kind, hashTokenBytes(id));
      if (typeof found?.payload.grantId === 'string') await tokenRequests.revoke(found.payload.grantId);
      throw new errors.InvalidGrant('the token was used by another request at the same time');
    },
  };
}

/**
 * Access tokens of programs without a user in front of them, such as a CI pipeline. They belong to the connection that was
 * created with the client, so they carry the rights of its user and end with it.
 */
function clientCredentialsAdapter({ library: { errors }, tokenRequests, address }: AdapterDeps): Adapter {
  return {
    ...REST,
    async find(id) {
      const found = await findToken(await tokenRequests.db(), 'AccessToken', hashTokenBytes(id));
      return found?.payload.kind === 'ClientCredentials'
        ? ({ ...found.payload, jti: id } as AdapterPayload)
        : undefined;
    },
    // The program may get another token: a job that ends revokes its own, not the access of all later jobs.
    destroy: async (id) => deleteToken(await tokenRequests.db(), hashTokenBytes(id)),
    async upsert(id, { jti: _secret, ...payload }, expiresIn = 0) {
      const db = await tokenRequests.db();
      const { clientId = '' } = payload;
      // A metadata document may claim this grant type, and its client has connections of other people.
      const connectionId = isCredentialsClient(clientId) ? await connectionOfClient(db, clientId) : null;
      if (connectionId === null) throw new errors.InvalidClientAuth('the connection of this client has ended');
      const token = { hash: hashTokenBytes(id), connectionId, payload, ttlMs: expiresIn * 1000 };
      await insertToken(db, { ...token, kind: 'AccessToken' });
      await bindConnection(db, connectionId, address.resource);
      await touchConnection(db, connectionId);
    },
  };
}

/** A grant is a connection. Ending one ends its tokens, so nothing is done to those one by one. */
function connectionAdapter({ store, consents, address, tokenRequests }: AdapterDeps): Adapter {
  return {
    ...REST,
    async upsert(id, payload, expiresIn = 0) {
      const consent = consents.getStore();
      if (!consent) throw new Error('a grant is saved at consent only');
      const { account, organisation, clientName } = consent;
      const connection = {
        id,
        tenantId: organisation.tenantId,
        userId: account.id,
        clientId: payload.clientId ?? '',
        clientName,
        resource: address.resource,
        scope: SCOPE,
        payload,
        ttlMs: expiresIn * 1000,
      };
      await grantConnection(store, connection, { email: account.email, organisation: organisation.externalId });
    },
    async find(id) {
      return ((await findGrantPayload(await tokenRequests.db(), id)) ?? undefined) as AdapterPayload | undefined;
    },
    destroy: (id) => tokenRequests.revoke(id),
  };
}

function clientAdapter({ library: { Provider }, store }: AdapterDeps): Adapter {
  return {
    ...REST,
    async upsert(id, metadata) {
      await insertClient(store.db, id, { ...metadata }, Provider.ctx?.ip ?? null);
    },
    async find(id) {
      const metadata = await findClient(store.db, id);
      if (!metadata) return undefined;
      return (isCredentialsClient(id) ? { ...metadata, ...usedMethod(Provider) } : metadata) as AdapterPayload;
    },
  };
}

const isCredentialsClient = (id: string): boolean => id.startsWith(CREDENTIALS_CLIENT);

/** The library allows one method for each client; RFC 6749 leaves the choice to the client. */
const usedMethod = (Provider: OauthLibrary['Provider']) => ({
  token_endpoint_auth_method: Provider.ctx?.oidc.params?.client_secret ? 'client_secret_post' : 'client_secret_basic',
});

/** State of an authorization in progress, of one browser; the ids are secrets of its cookies. */
function artifactAdapter(model: string, { library: { errors }, store: { db } }: AdapterDeps): Adapter {
  return {
    ...REST,
    async upsert(id, { jti: _secret, ...payload }, expiresIn = 0) {
      const { cookie: _cookie, ...session } = (payload.session ?? {}) as Record<string, unknown>;
      const kept = payload.session ? { ...payload, session } : payload;
      const uid = [payload.uid, payload.userCode].find((one) => typeof one === 'string') ?? null;
      await saveArtifact(db, { model, hash: hashTokenBytes(id), uid, payload: kept, ttlMs: expiresIn * 1000 });
    },
    async find(id) {
      const payload = await findArtifact(db, model, { hash: hashTokenBytes(id) });
      return payload ? ({ ...payload, jti: id } as AdapterPayload) : undefined;
    },
    async findByUid(uid) {
      return ((await findArtifact(db, model, { uid })) ?? undefined) as AdapterPayload | undefined;
    },
    async consume(id) {
      if (!(await consumeArtifact(db, model, hashTokenBytes(id))))
        throw new errors.InvalidRequest('it was used before');
    },
    async destroy(id) {
      const isLast = await deleteArtifact(db, model, hashTokenBytes(id));
      // Of two requests that continue after one consent at the same time only one gets a code.
      if (!isLast && model === 'Interaction') throw new errors.SessionNotFound('it was continued before');
    },
  };
}

export const createConsents = (): Consents => new AsyncLocalStorage<Consent>();
