import type { dashboardRoutes } from '@pipeline/contract';
import type { HandlersOf } from '@pipeline/http';
import type { Dashboard } from '../../analytics/dashboard.ts';
import type { Authentication } from '../../auth/authentication.ts';

type Handlers = HandlersOf<typeof dashboardRoutes, Authentication>;

/** interface: Health, dashboard. It is answered from memory alone, whether or not there is a store. */
export const dashboardHandlers = (dashboard: Pick<Dashboard, 'page'>): Handlers => ({
  readDashboard: ({ query, request }) =>
    dashboard
      .page({
        window: query.window === '30d' ? 30 : 7,
        timelines: query.timelines,
        hasMetrics: query.metrics === 'true',
      })
      .answer(request),
});
