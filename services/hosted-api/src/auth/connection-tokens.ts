import type { IncomingMessage } from 'node:http';
import { hashToken } from '@pipeline/engine';
import { AnswerError, type Authenticate, type Identity } from '@pipeline/http';
import { Batcher } from '@pipeline/runtime';
import { findLiveConnections, type LiveConnection, type Store } from '@pipeline/store';
import { LRUCache } from 'lru-cache';
import { type PublicAddress, SCOPE } from './public-address.ts';

/** Looks up many keys. @returns the values of the keys that exist, by key. */
type LookUp<V> = (keys: readonly string[]) => Promise<ReadonlyMap<string, V>>;

/** A connection that calls: its id as the key, who it acts for, and the scope of what it may read now. */
export interface ConnectionIdentity extends Identity, LiveConnection {}

export type ConnectionAuth = { connection: Authenticate<ConnectionIdentity> };

const ACCESS_TOKEN = /^mcp_at_[\w-]{43}$/;

/** Tokens whose organisation and user are kept in memory: about 200 octets each. */
const KNOWN_TOKENS = 20_000;

/**
 * Creates the check of access tokens. It reads token and rights from the primary for each request, so a revoked, disabled
 * or removed caller sees nothing from then on. Only the owner of a token, which never changes, is kept, so that both are
 * read in one round trip. Concurrent requests share the statements.
 */
export function connectionAuthenticator(store: Store, address: PublicAddress): Authenticate<ConnectionIdentity> {
  const challenge = (error: string) => ({
    'www-authenticate': `Bearer ${error}resource_metadata="${address.resourceMetadata}", scope="${SCOPE}"`,
  });
  const required = (message: string) => new AnswerError('AUTH_REQUIRED', message, challenge(''));
  const failed = (message: string) => new AnswerError('AUTH_FAILED', message, challenge('error="invalid_token", '));

  const owners = new LRUCache<string, { tenantId: number; userId: number }>({ max: KNOWN_TOKENS });
  const lookups = new GatheredLookups<LiveConnection>((hashes) =>
    findLiveConnections(
      store.db,
      hashes.map((hash) => Buffer.from(hash, 'hex')),
      owners,
    ),
  );

  return async ({ headers: { authorization } }: IncomingMessage) => {
    if (authorization === undefined) throw required('An access token is required: Authorization: Bearer mcp_at_…');
    const token = /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
    if (token === undefined) throw required('The Authorization header must be: Bearer mcp_at_…');
    if (!ACCESS_TOKEN.test(token)) throw failed('This is no access token of a connection: those begin with mcp_at_');
    const live = await lookups.find(hashToken(token));
    if (!live) throw failed('The access token is unknown or expired, or its connection was revoked');
    if (live.resource !== address.resource) throw failed(`The access token is not for ${address.resource}`);
    return { ...live, key: live.connectionId };
  };
}

/** Combines concurrent look-ups into one, each key once. */
export class GatheredLookups<V> {
  readonly #batcher: Batcher<string, V | undefined>;

  constructor(lookUp: LookUp<V>) {
    this.#batcher = new Batcher(async (keys) => {
      const found = await lookUp([...new Set(keys)]);
      return keys.map((key) => ({ status: 'fulfilled', value: found.get(key) }));
    });
  }

  find(key: string): Promise<V | undefined> {
    return this.#batcher.submit(key);
  }
}
