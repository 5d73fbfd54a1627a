import type { browserRoutes } from '@pipeline/contract';
import type { HandlersOf } from '@pipeline/http';
import type { HostedContext } from '../../context/context.ts';
import { scopeIn } from './browser-scope.ts';

type Handlers = HandlersOf<typeof browserRoutes, { session: HostedContext['authenticateSession'] }>;

/** Proxies that store or buffer would hold messages back. */
const HEADERS = { 'cache-control': 'no-store, no-transform', 'x-accel-buffering': 'no' };

/** The stream of changes of the customers' pages. */
export const changeHandlers = ({
  changes,
  engine: { store },
  authenticateSession,
}: HostedContext): Pick<Handlers, 'browserChanges'> => ({
  browserChanges: async ({ identity, query, request, onClose }) => {
    const scope = await scopeIn(store, identity, query.org);
    const recheck = async () => scopeIn(store, await authenticateSession(request), query.org);
    const stream = { scope, key: `user ${identity.account.id}`, onClose, recheck };
    return { status: 200, headers: HEADERS, stream: (response) => changes.open({ ...stream, response }) };
  },
});
