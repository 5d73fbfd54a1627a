import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AnyRoute, AuthKind, BodyOf, ParamsOf, QueryOf, RepliesOf, Reply } from '@pipeline/contract';
import type { Logger } from '@pipeline/runtime';
import type { z } from 'zod';

/** Who calls. `key` names the credential in limits and logs; it is never the secret itself. */
export interface Identity {
  readonly key: string;
}

/**
 * Reads the credentials of a request.
 * @throws AppError AUTH_REQUIRED where there are none, AUTH_FAILED where they are no good.
 */
export type Authenticate<I extends Identity = Identity> = (request: IncomingMessage) => Promise<I> | I;

/** The kinds of credentials that are checked before the handler; a signature covers the body, so its handler checks it. */
export type CheckedAuth = Exclude<AuthKind, 'none' | 'signature'>;

export type Authenticators = { readonly [K in CheckedAuth]?: Authenticate };

type IdentityOf<A extends Authenticators, K extends AuthKind> = K extends keyof A
  ? A[K] extends Authenticate<infer I>
    ? I
    : undefined
  : undefined;

/** What a handler gets: everything is parsed, checked and allowed. */
export interface HandlerInput<T extends AnyRoute, I> {
  params: ParamsOf<T>;
  query: QueryOf<T>;
  body: BodyOf<T>;
  identity: I;
  request: IncomingMessage;
  requestId: string;
  /** The caller's address, as far as the proxy setting lets it be known. */
  address: string;
  /** Fires when the caller has gone before the answer was complete. */
  signal: AbortSignal;
  /** Runs `work` once when the answer is complete or its connection has closed; at once if that was before. */
  onClose(work: () => void): void;
  /** Adds the request id to every line. */
  log: Logger;
}

type Content<R extends Reply> = R extends { streamed: true }
  ? { stream: (response: ServerResponse) => Promise<void> | void }
  : R extends { body: infer B extends z.ZodType }
    ? // `json` is the body, serialised already: for hot lists that the store keeps as text.
      { body: z.input<B> } | { json: string }
    : { body?: undefined };

/** One of the declared answers. Errors are thrown as AppError. */
export type HandlerAnswer<T extends AnyRoute> = {
  [S in keyof RepliesOf<T> & number]: {
    status: S;
    headers?: Readonly<Record<string, string | readonly string[]>>;
  } & Content<RepliesOf<T>[S]>;
}[keyof RepliesOf<T> & number];

export type Handler<T extends AnyRoute, I = undefined> = (
  input: HandlerInput<T, I>,
) => Promise<HandlerAnswer<T>> | HandlerAnswer<T>;

/** A handler for every route, by id: one that is missing, or answers what is not declared, does not compile. */
export type HandlersOf<Routes extends readonly AnyRoute[], A extends Authenticators = Record<never, never>> = {
  [T in Routes[number] as T['id']]: Handler<T, IdentityOf<A, T['auth']>>;
};
