import type { AnswerOf, AnyRoute, BodyInputOf, ParamsOf, QueryInputOf } from '@pipeline/contract';

/** Body of the successful response of a route; the browser itself turns a 304 into the response that it has. */
export type ReplyOf<Route extends AnyRoute> = Exclude<AnswerOf<Route>, { status: 304 }>['body'];

/** zod's empty object is a `Record<string, never>`: there is nothing to send. */
type Part<Name extends string, T> = [T] extends [undefined]
  ? unknown
  : string extends keyof T
    ? unknown
    : Partial<T> extends T
      ? { [N in Name]?: T }
      : { [N in Name]: T };

/** Params, query and body that a route declares. */
export type InputOf<Route extends AnyRoute> = Part<'params', ParamsOf<Route>> &
  Part<'query', QueryInputOf<Route>> &
  Part<'body', BodyInputOf<Route>>;
