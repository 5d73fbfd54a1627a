import type { eventRoutes } from '@pipeline/contract';
import { AppError, requireSlug, slugKey } from '@pipeline/domain';
import { type Engine, findRepoAt } from '@pipeline/engine';
import type { HandlersOf } from '@pipeline/http';
import type { Authentication } from '../auth/authentication.ts';
import type { EventFeed } from '../stream/event-feed.ts';
import type { StreamFilter } from '../stream/frame.ts';
import { StreamLimit, type StreamLimits } from '../stream/stream-limit.ts';

type Handlers = HandlersOf<typeof eventRoutes, Authentication>;

/** Proxies that store or buffer would hold events back. */
const HEADERS = { 'cache-control': 'no-store, no-transform', 'x-accel-buffering': 'no' };

export interface EventDeps {
  engine: Engine;
  feed: EventFeed;
}

/**
 * interface: Event stream.
 * @param pipeline null where there is no store: then nothing can be followed.
 */
export function eventHandlers(pipeline: EventDeps | null, limits: StreamLimits): Handlers {
  const limit = new StreamLimit(limits);
  return {
    streamEvents: async ({ query, request, identity }) => {
      if (pipeline === null) throw new AppError('SSE_UNAVAILABLE', 'The event stream needs a store');
      const { engine, feed } = pipeline;
      const from = await feed.resume(lastEventIdOf(request.headers['last-event-id']));
      const filter = await filterOf(engine, query);
      const release = limit.take(identity.key);
      return {
        status: 200,
        headers: HEADERS,
        stream: (response) => feed.stream(response, from, filter).finally(release),
      };
    },
  };
}

/** What is no number was not given out here: such a client starts anew. */
const lastEventIdOf = (header: string | string[] | undefined): number | null =>
  typeof header === 'string' && /^\d{1,15}$/.test(header) ? Number(header) : null;

interface Wanted {
  repo?: string | undefined;
  tenant?: string | undefined;
  types?: readonly string[] | undefined;
}

async function filterOf(engine: Engine, { repo, tenant, types }: Wanted): Promise<StreamFilter> {
  const wanted = types ?? null;
  if (repo === undefined) return { repo: null, types: wanted };
  const { owner, name } = requireSlug(repo);
  const { tenant_id, ...slug } = await findRepoAt(engine, { owner, repo: name, tenant });
  return { repo: { tenantId: tenant_id, slug: slugKey(slug) }, types: wanted };
}
