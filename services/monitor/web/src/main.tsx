import '@pipeline/web/design/base.css';
import { parseSearch, stringifySearch } from '@pipeline/web/address/search-text.ts';
import { queryClient } from '@pipeline/web/api/query-client.ts';
import { startShortcuts } from '@pipeline/web/navigation/shortcuts.ts';
import { startPreferences } from '@pipeline/web/preferences/preferences.ts';
import {
  createHashHistory,
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  type RouteComponent,
  retainSearchParams,
} from '@tanstack/react-router';
import { createRoot } from 'react-dom/client';
import { checkSession } from './api/session.ts';
import { App } from './app/app.tsx';
import OverviewPage from './pages/overview/overview-page.tsx';
import { NotFound } from './shell/not-found.tsx';
import { PageFailure } from './shell/page-failure.tsx';
import { Shell } from './shell/shell.tsx';
import { startLive } from './stream/live.ts';
import { cachePatcher } from './stream/patches.ts';

const root = createRootRoute({
  component: Shell,
  notFoundComponent: NotFound,
  errorComponent: PageFailure,
  validateSearch: (search): Record<string, NonNullable<unknown>> => search as Record<string, NonNullable<unknown>>,
  search: { middlewares: [retainSearchParams(['repo'])] },
});

const overview = createRoute({
  getParentRoute: () => root,
  path: '/',
  // The page that most visits begin with: a chunk of its own would be one more round trip before anything is shown.
  component: OverviewPage,
  errorComponent: PageFailure,
});

/** A page whose code is loaded when it is opened; its module has the component as its default export. */
const page = <Path extends string>(path: Path, load: () => Promise<{ default: RouteComponent }>) =>
  createRoute({ getParentRoute: () => root, path, component: lazyRouteComponent(load), errorComponent: PageFailure });

const routes = [
  overview,
  page('/issues', () => import('./pages/issues/issues-page.tsx')),
  page('/issues/$owner/$repo/$number', () => import('./pages/issue/issue-page.tsx')),
  page('/queue', () => import('./pages/queue/queue-page.tsx')),
  page('/workers', () => import('./pages/workers/workers-page.tsx')),
  page('/trouble/blocked', () => import('./pages/blocked/blocked-page.tsx')),
  page('/trouble/dead-letters', () => import('./pages/dead-letters/dead-letters-page.tsx')),
  page('/trouble/consistency', () => import('./pages/consistency/consistency-page.tsx')),
  page('/trouble/writes', () => import('./pages/writes/writes-page.tsx')),
  page('/costs', () => import('./pages/costs/costs-page.tsx')),
  page('/agents', () => import('./pages/agents/agents-page.tsx')),
  page('/digest', () => import('./pages/digest/digest-page.tsx')),
  page('/trouble/regressions', () => import('./pages/regressions/regressions-page.tsx')),
  page('/knowledge/findings', () => import('./pages/findings/findings-page.tsx')),
  page('/knowledge/items', () => import('./pages/intelligence/items-page.tsx')),
  page('/knowledge/items/$id', () => import('./pages/intelligence/item-page.tsx')),
  page('/knowledge/retrieve', () => import('./pages/retrieval/retrieval-page.tsx')),
  page('/steering/strategy', () => import('./pages/strategy/strategy-page.tsx')),
  page('/steering/tracks', () => import('./pages/tracks/tracks-page.tsx')),
  page('/steering/tracks/$owner/$repo/$name', () => import('./pages/tracks/track-page.tsx')),
  page('/system/logs', () => import('./pages/logs/logs-page.tsx')),
  page('/system/events', () => import('./pages/events/events-page.tsx')),
  page('/system/audit', () => import('./pages/audit/audit-page.tsx')),
  page('/system/config', () => import('./pages/configuration/configuration-page.tsx')),
  page('/system/api', () => import('./pages/api/api-page.tsx')),
] as const;

/** Addresses are behind a hash: paths such as `/dashboard` and `/health` belong to the API. */
const router = createRouter({
  routeTree: root.addChildren(routes),
  history: createHashHistory(),
  parseSearch,
  stringifySearch,
  defaultPreload: 'intent',
  scrollRestoration: true,
});

startPreferences();
startShortcuts();

// The page reads its data after the session, whose response has the position of the stream: no event is between the
// data and the stream, and nothing is read a second time.
const isChecked = checkSession().catch(() => undefined); // the page reports it
startLive({ apply: cachePatcher(queryClient), refetch: () => void queryClient.invalidateQueries() });
void router.load();

/** Rendered when the session is known: a first render is painted before its effects run, a later one after them. */
function render(): void {
  const place = document.getElementById('app');
  if (place) createRoot(place).render(<App router={router} />);
}
void isChecked.then(render);
