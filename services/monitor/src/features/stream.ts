import { enabledReposWithTenant, type RepoWithTenant } from '@pipeline/store';
import { Gauge } from 'prom-client';
import { streamTick, wakesStream } from '../loops/stream.ts';
import { PolledValue } from '../polling/polled-value.ts';
import { EventFeed } from '../stream/event-feed.ts';
import { SECOND_MS, type Wiring } from './wiring.ts';

interface Stream {
  feed: EventFeed;
  loop: string;
  repos: PolledValue<readonly RepoWithTenant[]>;
}

/** The event stream. Heartbeats go on while the store is away. */
export function addStream({ engine, store, storeWatch, notifications, loops, metrics, now }: Wiring): Stream {
  const startedAt = now().getTime();
  const feed = new EventFeed({ store, now, uptime: () => (now().getTime() - startedAt) / SECOND_MS });
  const repos = new PolledValue(() => enabledReposWithTenant(store.fleet), now);
  loops.add('stream-repos', 60 * SECOND_MS, () => repos.refresh());
  const stream = loops.add('stream', SECOND_MS, streamTick(engine, feed));
  loops.addAlways('stream-heartbeat', SECOND_MS, async () => {
    if (await feed.beat(storeWatch.isConnected)) stream.wake();
  });
  notifications.on(
    'svc_stream',
    wakesStream(() => stream.wake()),
  );
  new Gauge({
    name: 'svc_sse_clients',
    help: 'Number of open event streams.',
    registers: [metrics.registry],
    collect() {
      this.set(feed.clients);
    },
  });
  return { feed, repos, loop: stream.name };
}
