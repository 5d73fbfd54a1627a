import type { ErrorCode } from '@pipeline/domain';
import type { z } from 'zod';

/** Required authentication: none, monitor session or Basic, worker token, OAuth connection, browser session, signed body. */
export type AuthKind = 'none' | 'operator' | 'worker' | 'connection' | 'session' | 'signature';

/** One success response. `type` is the content type; `streamed` = the handler writes the body itself. */
export interface Reply {
  description: string;
  body?: z.ZodType;
  type?: string;
  /** Shown in the document; a test checks it against `body`. */
  example?: unknown;
  streamed?: true;
  /** Schemas of a streamed response by content type; used for the document only. */
  content?: Readonly<Record<string, z.ZodType>>;
  headers?: Record<string, { description: string; schema: z.ZodType }>;
}
type Replies = Readonly<Record<number, Reply>>;

/** Error for invalid input. Without a message, the first schema violation is the message. */
export interface Refusal {
  code: ErrorCode;
  message?: string;
}

/** Error overrides of a route for invalid input, in the order of validation. */
interface Refusals {
  params?: Refusal;
  query?: Refusal;
  json?: Refusal;
  body?: Refusal;
  /** Refusals by name of the top-level body field; take precedence over `body`. */
  fields?: Record<string, Refusal>;
}

/** An error that the handler may throw; `status` overrides the catalogue. */
export type DeclaredError = ErrorCode | { code: ErrorCode; status?: number; description?: string };

/** A body passed to the handler as raw bytes, for example to verify a signature. */
interface RawBody {
  raw: true;
  type: string;
  description: string;
  /** Documented schema of the body; default: any object. */
  schema?: z.ZodType;
}

type Body = z.ZodType | RawBody;

interface RouteSpec<
  Id extends string,
  A extends AuthKind,
  P extends z.ZodObject,
  Q extends z.ZodObject,
  B extends Body,
  R extends Replies,
> {
  /** OpenAPI operationId, handler name and metrics label. */
  id: Id;
  method: 'get' | 'post' | 'put' | 'delete';
  /** OpenAPI form, `/api/x/{id}`; `{rest*}` at the end takes any number of segments. */
  path: `/${string}`;
  summary: string;
  description: string;
  tags: readonly [string, ...string[]];
  auth: A;
  /** False for routes that work without a database; other routes then return 503 STORE_UNAVAILABLE. Default true. */
  needsStore?: boolean;
  params?: P;
  query?: Q;
  /** Request headers, documented here; the handler validates them with the same schema. */
  headers?: z.ZodObject;
  /** Requests without a query string do not match this route (404). */
  needsQuery?: true;
  body?: B;
  /** An absent body is treated as `{}`. */
  bodyOptional?: true;
  /** Maximum body size in bytes; default 256 KiB. */
  bodyLimit?: number;
  /**
   * Handling of body text that Postgres cannot store (NUL, unpaired surrogates): `refuse` returns 400, `replace`
   * substitutes U+FFFD, and 1e21 for larger numbers. Default `refuse`. Raw bodies other than forms are passed unchanged.
   */
  unstorableText?: 'refuse' | 'replace';
  /** Allows cross-origin requests. Only for routes that use no credential a browser adds automatically. */
  crossOrigin?: true;
  replies: R;
  errors?: readonly DeclaredError[];
  refusals?: Refusals;
  /** Error for an unexpected failure; default 500 INTERNAL_ERROR. */
  failure?: Refusal;
  /** Omits the route from the OpenAPI document: pages and files. */
  undocumented?: true;
}

interface Route<
  Id extends string = string,
  A extends AuthKind = AuthKind,
  P extends z.ZodObject = z.ZodObject,
  Q extends z.ZodObject = z.ZodObject,
  B extends Body = Body,
  R extends Replies = Replies,
> extends RouteSpec<Id, A, P, Q, B, R> {
  needsStore: boolean;
  bodyLimit: number;
  refusals: Refusals;
  errors: readonly DeclaredError[];
}
export type AnyRoute = Route;

// Empty shape for routes without params or query.
// biome-ignore lint/complexity/noBannedTypes: zod's own type of an empty object.
type Nothing = z.ZodObject<{}>;

/** Default body limit in bytes; routes with larger bodies set `bodyLimit`. */
const DEFAULT_BODY_LIMIT = 256 * 1024;

/**
 * Declares one endpoint: the source of its validation, handler type, OpenAPI operation, client types and response
 * checks.
 */
export function route<
  const Id extends string,
  const A extends AuthKind,
  P extends z.ZodObject = Nothing,
  Q extends z.ZodObject = Nothing,
  B extends Body = never,
  const R extends Replies = Replies,
>(spec: RouteSpec<Id, A, P, Q, B, R>): Route<Id, A, P, Q, B, R> {
  return {
    ...spec,
    needsStore: spec.needsStore ?? true,
    bodyLimit: spec.bodyLimit ?? DEFAULT_BODY_LIMIT,
    refusals: spec.refusals ?? {},
    errors: spec.errors ?? [],
  };
}

/** Returns whether cross-origin browser requests to the route are refused. */
export const checksOrigin = ({ method, crossOrigin }: AnyRoute): boolean => method !== 'get' && !crossOrigin;

export const rawBody = (type: string, description: string, schema?: z.ZodType): RawBody => ({
  raw: true,
  type,
  description,
  ...(schema && { schema }),
});

/** An own property, so that a schema is not built for the answer. */
export const isRawBody = (body: Body | undefined): body is RawBody => body !== undefined && Object.hasOwn(body, 'raw');

/** Types of a route shared by server and client. */
export type ParamsOf<T> = T extends Route<string, AuthKind, infer P> ? z.output<P> : never;
export type QueryOf<T> = T extends Route<string, AuthKind, z.ZodObject, infer Q> ? z.output<Q> : never;
/** Query input of a caller; parameters with defaults are optional. */
export type QueryInputOf<T> = T extends Route<string, AuthKind, z.ZodObject, infer Q> ? z.input<Q> : never;
type DeclaredBody<T> = T extends Route<string, AuthKind, z.ZodObject, z.ZodObject, infer B> ? B : never;
/** Body as passed to the handler: parsed with defaults; bytes for a raw body; undefined without a body. */
export type BodyOf<T> = [DeclaredBody<T>] extends [never]
  ? undefined
  : DeclaredBody<T> extends z.ZodType
    ? z.output<DeclaredBody<T>>
    : Uint8Array;
/** Body input of a caller. */
export type BodyInputOf<T> = [DeclaredBody<T>] extends [never]
  ? undefined
  : DeclaredBody<T> extends z.ZodType
    ? z.input<DeclaredBody<T>>
    : Uint8Array | string;
export type RepliesOf<T> = T extends { replies: infer R extends Replies } ? R : never;
