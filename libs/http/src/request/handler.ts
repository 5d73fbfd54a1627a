import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AnyRoute, AuthKind, BodyOf, ParamsOf, QueryOf, RepliesOf, Reply } from '@pipeline/contract';
import type { Logger } from '@pipeline/runtime';
import type { z } from 'zod';

/** Identity of a caller. `key` identifies the credential in limits and logs; it is never the secret itself. */
export interface Identity {
  readonly key: string;
}

/**
 * Reads the credentials of a request.
 * @throws AppError AUTH_REQUIRED without credentials, AUTH_FAILED for invalid ones.
 */
export type Authenticate<I extends Identity = Identity> = (request: IncomingMessage) => Promise<I> | I;

/** Authentication kinds checked before the handler. A signature covers the body and is checked by its handler. */
export type CheckedAuth = Exclude<AuthKind, 'none' | 'signature'>;

export type Authenticators = { readonly [K in CheckedAuth]?: Authenticate };

type IdentityOf<A extends Authenticators, K extends AuthKind> = K extends keyof A
  ? A[K] extends Authenticate<infer I>
    ? I
    : undefined
  : undefined;

/** Input of a handler: parsed, validated and authorized. */
export interface HandlerInput<T extends AnyRoute, I> {
  params: ParamsOf<T>;
  query: QueryOf<T>;
  body: BodyOf<T>;
  identity: I;
  request: IncomingMessage;
  requestId: string;
  /** Address of the caller, according to the proxy setting. */
  address: string;
  /** Aborted when the caller disconnects before the response is complete. */
  signal: AbortSignal;
  /** Runs `work` once when the response is complete or its connection has closed; immediately if it already has. */
  onClose(work: () => void): void;
  /** Adds the request id to every line. */
  log: Logger;
}

type Content<R extends Reply> = R extends { streamed: true }
  ? { stream: (response: ServerResponse) => Promise<void> | void }
  : R extends { body: infer B extends z.ZodType }
    ? // `json` is the serialized body, for lists that the store keeps as text; `bytes` is what is sent of a text, with its
      // content encoding in the headers.
        | (z.input<B> extends string ? { body: string; bytes?: Buffer } : { body: z.input<B> })
        | { json: string; bytes?: Buffer }
    : { body?: undefined };

/** One of the declared responses. Errors are thrown as AppError. */
type HandlerAnswer<T extends AnyRoute> = {
  [S in keyof RepliesOf<T> & number]: {
    status: S;
    headers?: Readonly<Record<string, string | readonly string[]>>;
  } & Content<RepliesOf<T>[S]>;
}[keyof RepliesOf<T> & number];

type Handler<T extends AnyRoute, I = undefined> = (
  input: HandlerInput<T, I>,
) => Promise<HandlerAnswer<T>> | HandlerAnswer<T>;

/** Handlers by route id. A missing handler or an undeclared response is a compile error. */
export type HandlersOf<Routes extends readonly AnyRoute[], A extends Authenticators = Record<never, never>> = {
  [T in Routes[number] as T['id']]: Handler<T, IdentityOf<A, T['auth']>>;
};
