import type { Engine } from '@pipeline/engine';
import { type NotificationHandler, STREAM_BATCH, sequenceStream } from '@pipeline/store';
import type { EventFeed } from '../stream/event-feed.ts';

/**
 * Numbers new events, notifies the other replicas, and delivers what is new. Every replica does so; a lock in the store
 * ensures that one at a time assigns numbers.
 */
export const streamTick = (engine: Engine, feed: EventFeed) => async () => {
  const numbered = await sequenceStream(engine.store.fleet);
  if (numbered.length > 0) engine.notify('svc_stream', NUMBERED);
  const more = await feed.tick(numbered);
  return numbered.length === STREAM_BATCH ? 'again' : more;
};

/** In place of a tenant: events were numbered, so there are events to read and none to number. */
const NUMBERED = 0;

/** Events that this process has numbered are delivered already. */
export const wakesStream =
  (wake: () => void): NotificationHandler =>
  (tenantIds, isOwn) => {
    if (!isOwn || tenantIds === null || tenantIds.some((tenantId) => tenantId !== NUMBERED)) wake();
  };
