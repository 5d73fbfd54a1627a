import { enabledReposWithTenant, type RepoWithTenant } from '@pipeline/store';
import { Gauge } from 'prom-client';
import { StreamLoop } from '../loops/stream.ts';
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
  const follower = new StreamLoop({ engine, feed });
  const stream = loops.add('stream', SECOND_MS, () => follower.tick());
  loops.addAlways('stream-heartbeat', SECOND_MS, async () => {
    if (!(await feed.beat(storeWatch.isConnected))) return;
    follower.look();
    stream.wake();
  });
  notifications.on(
    'svc_stream',
    follower.wakes(() => stream.wake()),
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
