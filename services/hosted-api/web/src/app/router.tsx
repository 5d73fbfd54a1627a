import { parseSearch, stringifySearch } from '@pipeline/web/address/search-text.ts';
import {
  createHashHistory,
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  type RouteComponent,
  retainSearchParams,
} from '@tanstack/react-router';
import OverviewPage from '../pages/overview-page.tsx';
import { Shell } from '../shell/shell.tsx';
import { NotFound, PageFailure } from '../shell/whole-page-notes.tsx';

const root = createRootRoute({
  component: Shell,
  notFoundComponent: NotFound,
  errorComponent: PageFailure,
  validateSearch: (search): Record<string, NonNullable<unknown>> => search as Record<string, NonNullable<unknown>>,
  search: { middlewares: [retainSearchParams(['org', 'repo'])] },
});

const overview = createRoute({
  getParentRoute: () => root,
  path: '/',
  // The page that most visits begin with: a chunk of its own would be one more round trip before anything is shown.
  component: OverviewPage,
  errorComponent: PageFailure,
});

const page = <Path extends string>(path: Path, load: () => Promise<{ default: RouteComponent }>) =>
  createRoute({ getParentRoute: () => root, path, component: lazyRouteComponent(load), errorComponent: PageFailure });

const routes = [
  overview,
  page('/issues', () => import('../pages/issues-page.tsx')),
  page('/issues/$number', () => import('../pages/issue-page.tsx')),
  page('/repositories', () => import('../pages/repositories-page.tsx')),
  page('/costs', () => import('../pages/costs-page.tsx')),
  page('/members', () => import('../pages/members-page.tsx')),
  page('/connections', () => import('../pages/connections-page.tsx')),
  page('/sessions', () => import('../pages/sessions-page.tsx')),
] as const;

/** Addresses are behind a hash: the paths of this origin belong to the API. */
export const router = createRouter({
  routeTree: root.addChildren(routes),
  history: createHashHistory(),
  parseSearch,
  stringifySearch,
  defaultPreload: 'intent',
  scrollRestoration: true,
});
