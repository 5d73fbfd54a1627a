import { SECOND_MS } from '@pipeline/domain';
import type { Engine } from '@pipeline/engine';
import { enabledReposWithTenant, type NotificationHandler, STREAM_BATCH, sequenceStream } from '@pipeline/store';
import { Gauge } from 'prom-client';
import { PolledValue } from '../polling/polled-value.ts';
import type { Wiring } from '../wiring/wiring.ts';
import { EventFeed } from './event-feed.ts';

/** Value in place of a tenant: events were numbered, so there are events to read and none to number. */
const NUMBERED = 0;
/** Longest time between two reads. A notification that was lost delays an event of another process by it. */
const READ_EVERY_MS = 1_000;

interface StreamDeps {
  engine: Engine;
  feed: EventFeed;
  /** Milliseconds, monotonic. */
  clock?: () => number;
}

/** Creates the event stream of this replica. A notification wakes the loop that reads it. */
export function createStream({ engine, store, notifications, loops, metrics, now }: Wiring) {
  const startedAt = now().getTime();
  const feed = new EventFeed({ store, now, uptime: () => (now().getTime() - startedAt) / SECOND_MS });
  const repos = new PolledValue(() => enabledReposWithTenant(store.db), now);
  const follower = new StreamLoop({ engine, feed });
  notifications.on(
    'svc_stream',
    follower.wakes(() => loops.wake('stream')),
  );
  new Gauge({
    name: 'svc_sse_clients',
    help: 'Number of open event streams.',
    registers: [metrics.registry],
    collect() {
      this.set(feed.clients);
    },
  });
  return { feed, follower, repos };
}

/**
 * Numbers new events, notifies the other replicas, and delivers what is new. Every replica does so; a lock in the store
 * ensures that one at a time assigns numbers.
 */
export class StreamLoop {
  readonly #deps: Required<StreamDeps>;
  /** True = other processes may have numbered events since the last read. */
  #othersNumbered = false;
  #readAt = Number.NEGATIVE_INFINITY;

  constructor({ engine, feed, clock = () => performance.now() }: StreamDeps) {
    this.#deps = { engine, feed, clock };
  }

  /** @returns 'again' when there may be more. */
  async tick(): Promise<'again' | undefined> {
    const { engine, feed } = this.#deps;
    const numbered = await sequenceStream(engine.store.db);
    if (numbered.length > 0) engine.notify('svc_stream', NUMBERED);
    const more = await feed.tick(numbered, this.#isDue());
    return numbered.length === STREAM_BATCH ? 'again' : more;
  }

  /** Events were numbered that the last tick did not return: the next one reads them. */
  look(): void {
    this.#othersNumbered = true;
  }

  /** Wakes for events to number, and for those that another process has numbered: its own are delivered already. */
  wakes(wake: () => void): NotificationHandler {
    return (tenantIds, isOwn) => {
      const toNumber = tenantIds === null || tenantIds.some((tenantId) => tenantId !== NUMBERED);
      if (!isOwn && (tenantIds?.includes(NUMBERED) ?? true)) this.look();
      if (!isOwn || toNumber) wake();
    };
  }

  /** Returns whether to read the stream, besides delivering what this process has numbered. */
  #isDue(): boolean {
    const now = this.#deps.clock();
    if (!this.#othersNumbered && now - this.#readAt < READ_EVERY_MS) return false;
    this.#othersNumbered = false;
    this.#readAt = now;
    return true;
  }
}
