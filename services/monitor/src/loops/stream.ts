import type { Engine } from '@pipeline/engine';
import { type NotificationHandler, STREAM_BATCH, sequenceStream } from '@pipeline/store';
import type { EventFeed } from '../stream/event-feed.ts';

/**
 * Gives facts their ids, tells the other replicas, and hands on what is new. Every replica does so; the store sees to
 * it that one at a time gives ids.
 */
export const streamTick = (engine: Engine, feed: EventFeed) => async () => {
  const numbered = await sequenceStream(engine.store.fleet);
  if (numbered.length > 0) engine.notify('svc_stream', NUMBERED);
  const more = await feed.tick(numbered);
  return numbered.length === STREAM_BATCH ? 'again' : more;
};

/** In place of a tenant: events got their ids, so there is something to read and nothing to number. */
const NUMBERED = 0;

/** What this process has numbered itself it has handed out already. */
export const wakesStream =
  (wake: () => void): NotificationHandler =>
  (rung, isOwn) => {
    if (!isOwn || rung === null || rung.some((tenantId) => tenantId !== NUMBERED)) wake();
  };
