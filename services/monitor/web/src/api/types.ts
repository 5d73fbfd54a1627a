import type { monitorSurface } from '@pipeline/contract';
import type { InputOf, ReplyOf } from '@pipeline/web/api/route-types.ts';

/** Address of an issue as its routes take it. */
export interface IssueInput {
  params: { owner: string; repo: string; issue: string };
  query: { tenant?: string };
}

type Declared = (typeof monitorSurface)['routes'][number];

/** Ids of the routes of the monitor. */
export type RouteId = Declared['id'];
type RouteOf<Id extends RouteId> = Extract<Declared, { id: Id }>;

/** Body of the successful response of a route. */
export type Reply<Id extends RouteId> = ReplyOf<RouteOf<Id>>;

/** Params, query and body that a route declares. */
export type Input<Id extends RouteId> = InputOf<RouteOf<Id>>;

export type Issue = Reply<'searchIssues'>['items'][number];
export type State = Issue['state'];
export type Alert = Reply<'listAlerts'>['items'][number];
export type Timeline = Reply<'readTimeline'>;
export type TimelineEntry = Timeline['entries'][number];
