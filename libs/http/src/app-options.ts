import type { IncomingMessage } from 'node:http';
import type { AnyRoute, Surface } from '@pipeline/contract';
import type { Logger } from '@pipeline/runtime';
import type { HelmetOptions } from 'helmet';
import type { Registry } from 'prom-client';
import type { BodyMemoryLimits } from './body-memory.ts';
import type { Authenticate, Authenticators, CheckedAuth, HandlersOf } from './handler.ts';
import type { IdentityLimiter, RateLimiter } from './rate-limit.ts';

export interface Page {
  html: string;
  /** Its Content-Security-Policy. */
  policy: string;
}

export type Headers = Readonly<Record<string, string | readonly string[]>>;

/** Renders the page for an error status; `headers` are those of the answer, such as Retry-After. */
export type ErrorPage = (error: { status: number; headers: Headers }) => Page;

/** One authenticator for every kind of credentials that the routes ask for. */
export type AuthenticatorsFor<Routes extends readonly AnyRoute[]> = {
  readonly [K in Extract<Routes[number]['auth'], CheckedAuth>]: Authenticate;
};

export interface Limits<Routes extends readonly AnyRoute[]> {
  /** Per address, before authentication, on every path. */
  address?: RateLimiter;
  /** Per address, before authentication, on these routes. */
  routes?: { readonly [Id in Routes[number]['id']]?: RateLimiter };
  /** Per credential, after authentication. */
  identity?: { readonly [K in CheckedAuth]?: RateLimiter | IdentityLimiter };
}

export interface AppOptions<Routes extends readonly AnyRoute[], A extends Authenticators> {
  surface: Surface<Routes>;
  handlers: HandlersOf<Routes, A>;
  authenticators: A;
  log: Logger;
  registry: Registry;
  /** Asked before each route that needs the store; false answers 503 STORE_UNAVAILABLE. */
  storeReady: () => boolean;
  limits?: Limits<Routes>;
  /** What an answer that the contract does not declare leads to: a 500 (tests, development) or a log line and a count. */
  answerCheck: 'throw' | 'log';
  /** Express's `trust proxy`; default false: the address is the socket's. */
  trustProxy?: boolean | number | string;
  helmet?: HelmetOptions;
  /** Called for routes of auth `signature` before the body is read. @throws AppError for a head that no sender has. */
  requireSignature?: (request: IncomingMessage) => void;
  /** Origins, such as `https://host`, whose pages may change things, beside the host that each request names. */
  ownOrigins?: readonly string[];
  /** Host names that are served beside addresses and localhost; absent = any (no check against DNS rebinding). */
  hostNames?: readonly string[] | undefined;
  bodies?: { memory?: Partial<BodyMemoryLimits>; timeoutMs?: number };
  /** Shown to browsers at addresses outside the API where nothing is; others get an ApiError. */
  notFoundPage?: Page;
  /** Shown to browsers in place of an ApiError where the route declares a page for that status. */
  errorPage?: ErrorPage | undefined;
}
