import type { browserRoutes } from '@pipeline/contract';
import {
  costsOf,
  endOwnConnection,
  endOwnConnections,
  endSession,
  explainIssue,
  listIssues,
  timelineOf,
} from '@pipeline/engine';
import { type Authenticate, type HandlersOf, webAsset } from '@pipeline/http';
import { liveConnectionsOf, organisationsOf, type Store, sessionsOf } from '@pipeline/store';
import type { SessionIdentity } from '../../accounts/browser-sessions.ts';
import { SCOPE } from '../../auth/public-address.ts';
import type { HostedContext } from '../../context/context.ts';
import { bootstrapOf, overviewFor } from '../../context/reads.ts';
import type { ChangeStreams } from '../../stream/change-streams.ts';
import { memberHandlers } from './browser-members.ts';
import { scopeIn } from './browser-scope.ts';

type Sessions = { session: Authenticate<SessionIdentity> };
type ChangeHandlers = Pick<HandlersOf<typeof browserRoutes, Sessions>, 'browserChanges'>;

/** Proxies that store or buffer would hold messages back. */
const HEADERS = { 'cache-control': 'no-store, no-transform', 'x-accel-buffering': 'no' };

type Handlers = HandlersOf<typeof browserRoutes, { session: HostedContext['authenticateSession'] }>;

/**
 * Handlers for what the customers' pages read and change: the use cases of connections, with the rights of the
 * logged-in user.
 */
export const browserHandlers = (context: HostedContext): Handlers => ({
  ...readHandlers(context),
  ...accountHandlers(context),
  ...changeHandlers(context.engine.store, context.changes, { session: context.authenticateSession }),
  ...memberHandlers(context.engine),
  getAsset: ({ params, request }) =>
    context.webDir === undefined ? Promise.resolve({ status: 404 }) : webAsset(context.webDir, params.path, request),
});

function readHandlers(context: HostedContext) {
  const { store } = context.engine;
  return {
    browserBootstrap: async ({ identity, query }) => {
      const scope = await scopeIn(store, identity, query.org);
      const reader = { scope, login: identity.account.email, scopes: [SCOPE] };
      return { status: 200, body: await bootstrapOf(context, reader, undefined) };
    },
    browserCosts: async ({ identity, query }) => {
      const scope = await scopeIn(store, identity, query.org);
      return { status: 200, body: await costsOf(store, scope, context.now()) };
    },
    browserOverview: async ({ identity, query }) => {
      const scope = await scopeIn(store, identity, query.org);
      return { status: 200, body: await overviewFor(context, { scope }, query.repo) };
    },
    browserIssues: async ({ identity, query }) => {
      const scope = await scopeIn(store, identity, query.org);
      const { repo: slug, state: filter, limit, offset } = query;
      const { json } = await listIssues(store, scope, { slug, filter, limit, offset });
      return { status: 200, json };
    },
    browserIssue: async ({ identity, params, query }) => {
      const scope = await scopeIn(store, identity, query.org);
      const issue = { slug: query.repo, number: Number(params.number) };
      return { status: 200, body: await explainIssue(store, scope, issue) };
    },
    browserTimeline: async ({ identity, params, query }) => {
      const scope = await scopeIn(store, identity, query.org);
      const { repo: slug, limit, offset } = query;
      const page = { slug, number: Number(params.number), limit, offset };
      const { timeline, total } = await timelineOf(store, scope, page);
      return { status: 200, body: { ...timeline, total } };
    },
  } satisfies Partial<Handlers>;
}

const SESSION_ID = /^[0-9a-f]{64}$/;

function accountHandlers({ engine: { store } }: HostedContext) {
  return {
    browserUser: async ({ identity: { account, formToken } }) => {
      const organisations = await organisationsOf(store.db, account.id);
      const orgs = organisations.map(({ externalId, name, role }) => ({ slug: externalId, name, role }));
      return { status: 200, body: { email: account.email, name: account.name, orgs, formToken } };
    },
    browserConnections: async ({ identity: { account } }) => {
      const connections = await liveConnectionsOf(store.db, account.id);
      const items = connections.map(({ clientId: _, ...connection }) => connection);
      return { status: 200, body: { items } };
    },
    browserEndConnection: async ({ identity: { account }, params, log }) => {
      const ended = await endOwnConnection(store, account, params.id);
      if (ended) log.info('connection ended by its user', { connection: params.id, user: account.id });
      return { status: 200, body: { ended: ended ? 1 : 0 } };
    },
    browserEndConnections: async ({ identity: { account }, log }) => {
      const ended = await endOwnConnections(store, account);
      if (ended.length > 0) log.info('all connections ended by their user', { connections: ended, user: account.id });
      return { status: 200, body: { ended: ended.length } };
    },
    browserSessions: async ({ identity: { account, sessionId } }) => {
      const sessions = await sessionsOf(store.db, account.id);
      const items = sessions.map((session) => ({ ...session, isCurrent: session.id === sessionId }));
      return { status: 200, body: { items } };
    },
    browserEndSession: async ({ identity: { account }, params, log }) => {
      const isId = SESSION_ID.test(params.id);
      const ended = isId && (await endSession(store, Buffer.from(params.id, 'hex'), account.id));
      if (ended) log.info('session ended by its user', { session: params.id.slice(0, 16), user: account.id });
      return { status: 200, body: { ended: ended ? 1 : 0 } };
    },
  } satisfies Partial<Handlers>;
}

/** The stream of changes of the customers' pages. */
const changeHandlers = (store: Store, changes: ChangeStreams, { session }: Sessions): ChangeHandlers => ({
  browserChanges: async ({ identity, query, request, onClose }) => {
    const scope = await scopeIn(store, identity, query.org);
    const recheck = async () => scopeIn(store, await session(request), query.org);
    const stream = { scope, key: `user ${identity.account.id}`, onClose, recheck };
    return { status: 200, headers: HEADERS, stream: (response) => changes.open({ ...stream, response }) };
  },
});
