import type { Engine } from '@pipeline/engine';
import { STREAM_BATCH, sequenceStream } from '@pipeline/store';
import type { EventFeed } from '../stream/event-feed.ts';

/**
 * Gives facts their ids, tells the other replicas, and hands on what is new. Every replica does so; the store sees to
 * it that one at a time gives ids.
 */
export const streamTick = (engine: Engine, feed: EventFeed) => async () => {
  const moved = await sequenceStream(engine.store.fleet);
  if (moved > 0) engine.ring('svc_stream', 0);
  const more = await feed.tick();
  return moved === STREAM_BATCH ? 'again' : more;
};
