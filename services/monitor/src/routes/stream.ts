import type { eventRoutes } from '@pipeline/contract';
import { AppError, requireSlug, slugKey } from '@pipeline/domain';
import { type Engine, findRepoAmong, findRepoAt } from '@pipeline/engine';
import { type HandlersOf, StreamLimit, type StreamLimits } from '@pipeline/http';
import { isUnavailable, type RepoWithTenant, type StoreWatch } from '@pipeline/store';
import type { Authentication } from '../auth/authentication.ts';
import type { PolledValue } from '../polling/polled-value.ts';
import type { StreamFilter } from '../stream/broadcast.ts';
import type { EventFeed } from '../stream/event-feed.ts';

type Handlers = HandlersOf<typeof eventRoutes, Authentication>;

/** Proxies that store or buffer would hold events back. */
const HEADERS = { 'cache-control': 'no-store, no-transform', 'x-accel-buffering': 'no' };

export interface EventDeps {
  engine: Engine;
  storeWatch: StoreWatch;
  feed: EventFeed;
  /** The enabled repos, for streams that are opened while the store is away. */
  repos: PolledValue<readonly RepoWithTenant[]>;
}

/**
 * interface: Event stream.
 * @param pipeline null where there is no store: then nothing can be followed.
 */
export function eventHandlers(pipeline: EventDeps | null, limits: StreamLimits): Handlers {
  const limit = new StreamLimit(limits);
  return {
    streamEvents: async ({ query, request, identity, onClose }) => {
      if (pipeline === null) throw new AppError('SSE_UNAVAILABLE', 'The event stream requires a store');
      const { feed, storeWatch } = pipeline;
      const lastId = lastEventIdOf(request.headers['last-event-id']);
      const place = await orFromMemory(
        storeWatch,
        () => feed.resume(lastId),
        () => feed.resumeFromMemory(lastId),
      );
      const filter = await filterOf(pipeline, query);
      return {
        status: 200,
        headers: HEADERS,
        // The slot is taken when the stream begins, not before, and given back when its connection closes or has closed.
        stream: (response) => {
          onClose(limit.take(identity.key));
          return feed.stream({ response, onClose, place, filter });
        },
      };
    },
  };
}

/** A value that is not a number was not issued by this stream: the client starts from the beginning. */
const lastEventIdOf = (header: string | string[] | undefined): number | null =>
  typeof header === 'string' && /^\d{1,15}$/.test(header) ? Number(header) : null;

interface Wanted {
  repo?: string | undefined;
  tenant?: string | undefined;
  types?: readonly string[] | undefined;
}

async function filterOf(deps: EventDeps, { repo, tenant, types }: Wanted): Promise<StreamFilter> {
  const wanted = types ?? null;
  if (repo === undefined) return { repo: null, types: wanted };
  const { owner, name } = requireSlug(repo);
  const address = { owner, repo: name, tenant };
  const { tenant_id, ...slug } = await orFromMemory(
    deps.storeWatch,
    () => findRepoAt(deps.engine, address),
    () => findRepoAmong(reposInMemory(deps), address),
  );
  return { repo: { tenantId: tenant_id, slug: slugKey(slug) }, types: wanted };
}

function reposInMemory({ repos }: EventDeps): readonly RepoWithTenant[] {
  if (repos.last === null) throw new AppError('SSE_UNAVAILABLE', 'The repositories have not been loaded yet');
  return repos.last.value;
}

/** The answer of the store; that of the memory while the store is away, or when it goes away meanwhile. */
async function orFromMemory<T>(watch: StoreWatch, fromStore: () => Promise<T>, fromMemory: () => T): Promise<T> {
  if (!watch.isConnected) return fromMemory();
  try {
    return await fromStore();
  } catch (error) {
    if (error instanceof AppError || !isUnavailable(error)) throw error;
    watch.loop.wake();
    return fromMemory();
  }
}
