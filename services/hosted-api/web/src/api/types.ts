import type { browserRoutes } from '@pipeline/contract';
import type { InputOf, ReplyOf } from '@pipeline/web/api/route-types.ts';

export type RouteId = Exclude<(typeof browserRoutes)[number]['id'], 'getAsset'>;
type RouteOf<Id extends RouteId> = Extract<(typeof browserRoutes)[number], { id: Id }>;

/** Body of the successful response of a route. */
export type Reply<Id extends RouteId> = ReplyOf<RouteOf<Id>>;

/** Params, query and body that a route declares. */
export type Input<Id extends RouteId> = InputOf<RouteOf<Id>>;

export type Issue = Reply<'browserIssues'>['items'][number];
