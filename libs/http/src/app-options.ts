import type { IncomingMessage } from 'node:http';
import type { AnyRoute, Surface } from '@pipeline/contract';
import type { Logger } from '@pipeline/runtime';
import type { HelmetOptions } from 'helmet';
import type { Registry } from 'prom-client';
import type { ErrorPage, Page } from './answers/page.ts';
import type { BodyMemoryLimits } from './body/body-memory.ts';
import type { Limits } from './limits/rate-limit.ts';
import type { Authenticate, Authenticators, CheckedAuth, HandlersOf } from './request/handler.ts';

/** One authenticator per authentication kind used by the routes. */
export type AuthenticatorsFor<Routes extends readonly AnyRoute[]> = {
  readonly [K in Extract<Routes[number]['auth'], CheckedAuth>]: Authenticate;
};

export interface AppOptions<Routes extends readonly AnyRoute[], A extends Authenticators> {
  surface: Surface<Routes>;
  handlers: HandlersOf<Routes, A>;
  authenticators: A;
  log: Logger;
  registry: Registry;
  /** Called before each route that requires the store; false returns 503 STORE_UNAVAILABLE. */
  storeReady: () => boolean;
  limits?: Limits<Routes>;
  /** Handling of a response that the contract does not declare: a 500 (tests, development), or a log line and a metric. */
  answerCheck: 'throw' | 'log';
  /** Express's `trust proxy`; default false: the address is the socket's. */
  trustProxy?: boolean | number | string;
  helmet?: HelmetOptions;
  /** Called for routes with auth `signature` before the body is read. @throws AppError for invalid headers. */
  requireSignature?: (request: IncomingMessage) => void;
  /** Origins, such as `https://host`, that may send state-changing requests, in addition to the host of the request. */
  ownOrigins?: readonly string[];
  /** Allowed host names in addition to IP addresses and localhost; undefined = any (no check against DNS rebinding). */
  hostNames?: readonly string[] | undefined;
  bodies?: { memory?: Partial<BodyMemoryLimits>; timeoutMs?: number };
  /** HTML 404 page for browsers at unknown paths outside the API; other clients get an ApiError. */
  notFoundPage?: Page;
  /** HTML page for browsers instead of an ApiError, if the route declares a page for the status. */
  errorPage?: ErrorPage | undefined;
}
