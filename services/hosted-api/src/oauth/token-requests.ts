import { AsyncLocalStorage } from 'node:async_hooks';
import { endConnectionOfClient } from '@pipeline/engine';
import { beginTransaction, type Db, type OpenTransaction, type Store } from '@pipeline/store';

interface TokenRequest {
  open: Promise<OpenTransaction> | undefined;
  /** Connections to revoke after the end of the transaction. */
  connectionsToRevoke: Set<string>;
}

/**
 * Runs each token request in one transaction. If the response is an error, the rollback restores a consumed refresh
 * token. The transaction starts at the first token access, so no database connection is held while a client's metadata
 * document is fetched.
 * If a token was reused, its connection is revoked after the rollback, which would otherwise undo the revocation, and
 * before the response is sent. Revoking on a second database connection during the transaction could deadlock waiting
 * requests.
 */
export class TokenRequests {
  readonly #store: Pick<Store, 'db'>;
  readonly #current = new AsyncLocalStorage<TokenRequest>();

  constructor(store: Pick<Store, 'db'>) {
    this.#store = store;
  }

  /** Database for token reads and writes: the request's transaction, or the pool outside of token requests. */
  async db(): Promise<Db> {
    const request = this.#current.getStore();
    if (!request) return this.#store.db;
    request.open ??= beginTransaction(this.#store.db);
    return (await request.open).tx;
  }

  /** Ends a connection, immediately, or at the end of the current token request. */
  async revoke(connectionId: string): Promise<void> {
    const request = this.#current.getStore();
    if (request) request.connectionsToRevoke.add(connectionId);
    else await endConnectionOfClient(this.#store, connectionId, 'client');
  }

  /** @param answer writes the response; the transaction commits only if it resolves to true. */
  async run(answer: () => Promise<boolean>): Promise<void> {
    const request: TokenRequest = { open: undefined, connectionsToRevoke: new Set() };
    let succeeded = false;
    try {
      succeeded = await this.#current.run(request, answer);
    } finally {
      const open = await request.open;
      await (succeeded ? open?.commit() : open?.rollback());
      for (const id of request.connectionsToRevoke) await endConnectionOfClient(this.#store, id, 'reuse');
    }
  }
}
