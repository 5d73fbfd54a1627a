import type { ErrorCode } from '@pipeline/domain';
import type { z } from 'zod';

/** Who may call: nobody in particular, a monitor session or Basic, a worker token, an OAuth connection, a signed body. */
export type AuthKind = 'none' | 'operator' | 'worker' | 'connection' | 'signature';

/** One answer that is no error. `type` is the content type; `streamed` = the handler writes the body itself. */
export interface Reply {
  description: string;
  body?: z.ZodType;
  type?: string;
  /** Shown in the document; a test holds it to `body`. */
  example?: unknown;
  streamed?: true;
  /** What a streamed answer may be, by content type: for the document alone. */
  content?: Readonly<Record<string, z.ZodType>>;
  headers?: Record<string, { description: string; schema: z.ZodType }>;
}
export type Replies = Readonly<Record<number, Reply>>;

/** What a bad input is answered with; without a message the first problem of the schema is told. */
export interface Refusal {
  code: ErrorCode;
  message?: string;
}

/** A route's own answers to bad input, in the order in which they are looked at. */
export interface Refusals {
  params?: Refusal;
  query?: Refusal;
  json?: Refusal;
  body?: Refusal;
  /** By name of the top-level body field; before `body`. */
  fields?: Record<string, Refusal>;
}

/** An error that the handler may throw; with a status where it differs from the catalogue's. */
export type DeclaredError = ErrorCode | { code: ErrorCode; status?: number; description?: string };

/** A body that reaches the handler as bytes, for signatures. */
export interface RawBody {
  raw: true;
  type: string;
  description: string;
  /** What the bytes must hold, for the document; default: any object. */
  schema?: z.ZodType;
}

type Body = z.ZodType | RawBody;

export interface RouteSpec<
  Id extends string,
  A extends AuthKind,
  P extends z.ZodObject,
  Q extends z.ZodObject,
  B extends Body,
  R extends Replies,
> {
  /** operationId, name of the handler and label of the metrics. */
  id: Id;
  method: 'get' | 'post' | 'put' | 'delete';
  /** OpenAPI form, `/api/x/{id}`; `{rest*}` at the end takes any number of segments. */
  path: `/${string}`;
  summary: string;
  description: string;
  tags: readonly [string, ...string[]];
  auth: A;
  /** False for the routes that work without a database; the others answer 503 STORE_UNAVAILABLE. Default true. */
  needsStore?: boolean;
  params?: P;
  query?: Q;
  /** Request headers, for the document; the handler reads and refuses them by the same schema. */
  headers?: z.ZodObject;
  /** A request without a query string is for no route. */
  needsQuery?: true;
  body?: B;
  /** An absent body counts as `{}`. */
  bodyOptional?: true;
  /** In bytes; default 256 KiB. */
  bodyLimit?: number;
  /**
   * What happens to text of the body that Postgres cannot store (NUL, unpaired surrogates): `refuse` answers 400,
   * `replace` puts U+FFFD in its place. Default `refuse`. Raw bodies other than forms reach the handler unchanged.
   */
  unstorableText?: 'refuse' | 'replace';
  /** Pages of other origins may call it: it uses no cookie or other credential that a browser adds by itself. */
  crossOrigin?: true;
  replies: R;
  errors?: readonly DeclaredError[];
  refusals?: Refusals;
  /** What an unexpected failure is answered with; default 500 INTERNAL_ERROR. */
  failure?: Refusal;
  /** Left out of the OpenAPI document: pages and files. */
  undocumented?: true;
}

export interface Route<
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

// An empty shape: a route without params has none to read.
// biome-ignore lint/complexity/noBannedTypes: zod's own type of an empty object.
type Nothing = z.ZodObject<{}>;

/** Bytes; routes that take more say so (prompts 1 MiB, worker messages 4 MiB). */
export const DEFAULT_BODY_LIMIT = 256 * 1024;

/**
 * Declares one endpoint. Validation, the typed handler, the OpenAPI document, the typed client and the answer checks
 * all come from it.
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

/** Whether a request to it is refused when a browser sends it for a page of another origin. */
export const checksOrigin = ({ method, crossOrigin }: AnyRoute): boolean => method !== 'get' && !crossOrigin;

export const rawBody = (type: string, description: string, schema?: z.ZodType): RawBody => ({
  raw: true,
  type,
  description,
  ...(schema && { schema }),
});

export const isRawBody = (body: Body | undefined): body is RawBody => body !== undefined && 'raw' in body;

/** The part of a route's types that the server and the client share. */
export type ParamsOf<T> = T extends Route<string, AuthKind, infer P> ? z.output<P> : never;
export type QueryOf<T> = T extends Route<string, AuthKind, z.ZodObject, infer Q> ? z.output<Q> : never;
/** The query as a caller gives it: what has a default may be left out. */
export type QueryInputOf<T> = T extends Route<string, AuthKind, z.ZodObject, infer Q> ? z.input<Q> : never;
type DeclaredBody<T> = T extends Route<string, AuthKind, z.ZodObject, z.ZodObject, infer B> ? B : never;
/** What the handler gets: parsed, defaults filled in; bytes of a raw body; undefined without one. */
export type BodyOf<T> = [DeclaredBody<T>] extends [never]
  ? undefined
  : DeclaredBody<T> extends z.ZodType
    ? z.output<DeclaredBody<T>>
    : Uint8Array;
/** What a caller sends. */
export type BodyInputOf<T> = [DeclaredBody<T>] extends [never]
  ? undefined
  : DeclaredBody<T> extends z.ZodType
    ? z.input<DeclaredBody<T>>
    : Uint8Array | string;
export type RepliesOf<T> = T extends { replies: infer R extends Replies } ? R : never;
export type StatusOf<T> = keyof RepliesOf<T> & number;
