import type { RequestScope } from './request-scope.ts';

interface Parsed {
  params: unknown;
  query: unknown;
  body: unknown;
  identity: unknown;
}

/** HandlerInput with lazily created signal and log. */
export class Input implements Parsed {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  readonly identity: unknown;
  readonly #scope: RequestScope;

  constructor(scope: RequestScope, { params, query, body, identity }: Parsed) {
    this.#scope = scope;
    this.params = params;
    this.query = query;
    this.body = body;
    this.identity = identity;
  }

  get request() {
    return this.#scope.request;
  }

  get requestId() {
    return this.#scope.id;
  }

  get address() {
    return this.#scope.address;
  }

  get signal() {
    return this.#scope.signal;
  }

  get onClose() {
    return (work: () => void) => this.#scope.onClose(work);
  }

  get log() {
    return this.#scope.log;
  }
}
