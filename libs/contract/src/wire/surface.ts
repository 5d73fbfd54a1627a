import type { AnyRoute, AuthKind, Refusal } from './route.ts';

/** Answers a path that no route of the family matches, whatever the method, in place of "No matching route". */
export interface PathFallback {
  methods: readonly AnyRoute['method'][];
  prefix: `/${string}/`;
  /** Only paths that end in one of them; else all that begin so. */
  suffixes?: readonly `/${string}`[];
  refusal: Refusal;
  /** The refusal's status and nothing more, for files: an ApiError would be no file. */
  emptyBody?: true;
}

export const isOfFamily = ({ prefix, suffixes }: PathFallback, path: string): boolean =>
  path.startsWith(prefix) && (suffixes === undefined || suffixes.some((suffix) => path.endsWith(suffix)));

/** Everything that one service serves. */
export interface Surface<Routes extends readonly AnyRoute[] = readonly AnyRoute[]> {
  name: 'hosted' | 'monitor';
  title: string;
  /** The version of the contract. */
  version: string;
  description: string;
  tags: readonly { name: string; description: string }[];
  routes: Routes;
  fallbacks: readonly PathFallback[];
  /** True = a JSON body needs `application/json`; false = it is parsed whatever the content type says. */
  requireJsonType: boolean;
  /** True = the Host header is checked while no authentication is configured (DNS rebinding). */
  hostCheck: boolean;
  /** True = a browser that opens an address outside the API where nothing is gets a page with status 404. */
  pageForUnknownPath?: true;
  /** Whose credentials an unknown API path asks for before it says that it is unknown. */
  unknownPathAuth: readonly Exclude<AuthKind, 'none' | 'signature'>[];
}

export const defineSurface = <const Routes extends readonly AnyRoute[]>(surface: Surface<Routes>): Surface<Routes> =>
  surface;
