import type { AnswerOf, AnyRoute, BodyInputOf, ParamsOf, QueryInputOf } from '@pipeline/contract';

/** Body of the successful response of a route. */
export type ReplyOf<Route extends AnyRoute> = AnswerOf<Route>['body'];

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
