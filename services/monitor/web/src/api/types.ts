import type { AnswerOf, BodyInputOf, monitorSurface, ParamsOf, QueryInputOf } from '@pipeline/contract';

type Declared = (typeof monitorSurface)['routes'][number];

/** Ids of the routes of the monitor. */
export type RouteId = Declared['id'];
type RouteOf<Id extends RouteId> = Extract<Declared, { id: Id }>;

/** Body of the successful response of a route. */
export type Reply<Id extends RouteId> = AnswerOf<RouteOf<Id>>['body'];

type Params<Id extends RouteId> = ParamsOf<RouteOf<Id>>;
type Query<Id extends RouteId> = QueryInputOf<RouteOf<Id>>;
type Body<Id extends RouteId> = BodyInputOf<RouteOf<Id>>;

/** zod's empty object is a `Record<string, never>`: there is nothing to send. */
type Part<Name extends string, T> = [T] extends [undefined]
  ? unknown
  : string extends keyof T
    ? unknown
    : Partial<T> extends T
      ? { [N in Name]?: T }
      : { [N in Name]: T };

/** Params, query and body that a route declares. */
export type Input<Id extends RouteId> = Part<'params', Params<Id>> & Part<'query', Query<Id>> & Part<'body', Body<Id>>;

export type Issue = Reply<'searchIssues'>['items'][number];
export type State = Issue['state'];
export type Alert = Reply<'listAlerts'>['items'][number];
export type Timeline = Reply<'readTimeline'>;
export type TimelineEntry = Timeline['entries'][number];
