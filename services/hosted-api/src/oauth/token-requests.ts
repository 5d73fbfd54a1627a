import { AsyncLocalStorage } from 'node:async_hooks';
import { beginTransaction, type Db, type OpenTransaction, revokeConnection } from '@pipeline/store';

interface TokenRequest {
  open: Promise<OpenTransaction> | undefined;
  /** Connections to end when the transaction is over. */
  reused: Set<string>;
}

/**
 * Makes each token request one transaction: a refresh token that was consumed for an answer that is an error after
 * all is as good as before. It begins with the first token that is touched, so no connection is held while a client's
 * metadata document is fetched.
 * A connection that has to end because a token was used twice ends after the rollback, which would undo it, and before
 * the answer. Doing it on a second connection meanwhile would let waiting requests block each other.
 */
export class TokenRequests {
  readonly #pool: Db;
  readonly #current = new AsyncLocalStorage<TokenRequest>();

  constructor(pool: Db) {
    this.#pool = pool;
  }

  /** Where tokens are read and written: the request's transaction, or the pool outside of token requests. */
  async db(): Promise<Db> {
    const request = this.#current.getStore();
    if (!request) return this.#pool;
    request.open ??= beginTransaction(this.#pool);
    return (await request.open).tx;
  }

  /** Ends a connection, immediately, or at the end of the current token request. */
  async revoke(connectionId: string): Promise<void> {
    const request = this.#current.getStore();
    if (request) request.reused.add(connectionId);
    else await revokeConnection(this.#pool, connectionId, 'client');
  }

  /** @param answer writes the answer; what it did with tokens stays only if it returns true. */
  async run(answer: () => Promise<boolean>): Promise<void> {
    const request: TokenRequest = { open: undefined, reused: new Set() };
    let succeeded = false;
    try {
      succeeded = await this.#current.run(request, answer);
    } finally {
      const open = await request.open;
      await (succeeded ? open?.commit() : open?.rollback());
      for (const id of request.reused) await revokeConnection(this.#pool, id, 'reuse');
    }
  }
}
