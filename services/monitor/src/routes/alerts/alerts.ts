import type { alertRoutes } from '@pipeline/contract';
import { pageOf } from '@pipeline/domain';
import type { Engine } from '@pipeline/engine';
import type { HandlersOf } from '@pipeline/http';
import { listAlerts, tenantIdOf } from '@pipeline/store';
import type { Authentication } from '../../auth/authentication.ts';

type Handlers = HandlersOf<typeof alertRoutes, Authentication>;

/** A tenant id that does not exist: it owns no alerts. */
const NOBODY = -1;

/** interface: Alert. @param deps asked at each call. @throws AppError STORE_UNAVAILABLE where there is no store. */
export const alertHandlers = (deps: () => { engine: Engine }): Handlers => ({
  listAlerts: async ({ query }) => {
    const { db } = deps().engine.store;
    const { status, severity, detector, repo, issue, tenant, limit, offset } = query;
    const tenantId = tenant === undefined ? undefined : ((await tenantIdOf(db, tenant)) ?? NOBODY);
    const resolved = status === 'all' ? undefined : status === 'resolved';
    const filter = { severity, detector, repo, issueNumber: issue, resolved, tenantId };
    const { items, total } = await listAlerts(db, filter, { limit, offset });
    return { status: 200, body: pageOf(items, { limit, offset }, total) };
  },
});
