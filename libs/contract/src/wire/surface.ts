import type { AnyRoute, AuthKind, Refusal } from './route.ts';

/** Error for paths below a prefix that match no route, in place of "No matching route". */
export interface PathFallback {
  methods: readonly AnyRoute['method'][];
  prefix: `/${string}/`;
  /** Limits the fallback to paths with one of these suffixes; default: all paths with the prefix. */
  suffixes?: readonly `/${string}`[];
  refusal: Refusal;
  /** Sends the status without a body, for file requests. */
  emptyBody?: true;
}

export const isOfFamily = ({ prefix, suffixes }: PathFallback, path: string): boolean =>
  path.startsWith(prefix) && (suffixes === undefined || suffixes.some((suffix) => path.endsWith(suffix)));

/** All routes of one service, with the settings shared by them. */
export interface Surface<Routes extends readonly AnyRoute[] = readonly AnyRoute[]> {
  name: 'hosted' | 'monitor';
  title: string;
  /** The version of the contract. */
  version: string;
  description: string;
  tags: readonly { name: string; description: string }[];
  routes: Routes;
  fallbacks: readonly PathFallback[];
  /** True = a JSON body requires `application/json`; false = the content type is ignored. */
  requireJsonType: boolean;
  /** True = the Host header is checked while authentication is off (protects against DNS rebinding). */
  hostCheck: boolean;
  /** True = browsers get an HTML 404 page for unknown paths outside the API. */
  pageForUnknownPath?: true;
  /** Authentication kinds required before an unknown API path returns 404. */
  unknownPathAuth: readonly Exclude<AuthKind, 'none' | 'signature'>[];
}

export const defineSurface = <const Routes extends readonly AnyRoute[]>(surface: Surface<Routes>): Surface<Routes> =>
  surface;
