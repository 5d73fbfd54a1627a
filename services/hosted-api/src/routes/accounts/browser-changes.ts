import type { browserRoutes } from '@pipeline/contract';
import type { Authenticate, HandlersOf } from '@pipeline/http';
import type { Store } from '@pipeline/store';
import type { SessionIdentity } from '../../accounts/browser-sessions.ts';
import type { ChangeStreams } from '../../stream/change-streams.ts';
import { scopeIn } from './browser-scope.ts';

type Sessions = { session: Authenticate<SessionIdentity> };
type Handlers = Pick<HandlersOf<typeof browserRoutes, Sessions>, 'browserChanges'>;

/** Proxies that store or buffer would hold messages back. */
const HEADERS = { 'cache-control': 'no-store, no-transform', 'x-accel-buffering': 'no' };

/** The stream of changes of the customers' pages. */
export const changeHandlers = (store: Store, changes: ChangeStreams, { session }: Sessions): Handlers => ({
  browserChanges: async ({ identity, query, request, onClose }) => {
    const scope = await scopeIn(store, identity, query.org);
    const recheck = async () => scopeIn(store, await session(request), query.org);
    const stream = { scope, key: `user ${identity.account.id}`, onClose, recheck };
    return { status: 200, headers: HEADERS, stream: (response) => changes.open({ ...stream, response }) };
  },
});
