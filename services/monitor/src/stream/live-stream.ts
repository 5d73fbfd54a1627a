import { SECOND_MS } from '@pipeline/domain';
import { enabledReposWithTenant } from '@pipeline/store';
import { Gauge } from 'prom-client';
import { StreamLoop } from '../loops/stream.ts';
import { PolledValue } from '../polling/polled-value.ts';
import type { Wiring } from '../process/wiring.ts';
import { EventFeed } from './event-feed.ts';

/** Creates the event stream of this replica. A notification wakes the loop that reads it. */
export function createStream({ engine, store, notifications, loops, metrics, now }: Wiring) {
  const startedAt = now().getTime();
  const feed = new EventFeed({ store, now, uptime: () => (now().getTime() - startedAt) / SECOND_MS });
  const repos = new PolledValue(() => enabledReposWithTenant(store.fleet), now);
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
