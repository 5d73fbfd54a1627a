import { join } from 'node:path';
import { silentLogger } from '@pipeline/runtime';
import { Notifications } from '@pipeline/store';
import { type StreamServer, stampedTransition } from '../measure/stream-server.ts';
import { type OurStore, openOurStore } from '../ours/store.ts';
import type { Bench } from '../runner/model.ts';
import { buildService } from './build.ts';
import { startChild } from './child.ts';

/** Monitors over one store, each a process of its own, built as its container is; only its limits are off. */
export interface StreamMonitors {
  start(name: string): Promise<StreamServer>;
  /** Publishes one event of another type, of so many octets. */
  publishFiller(octets: number): Promise<void>;
}

const UNLIMITED = { STREAMS_PER_CREDENTIAL: '0', STREAMS_IN_ALL: '0', REQUESTS_PER_MINUTE: '0' };

const INSERT = {
  name: 'publish',
  text: 'insert into stream_outbox (tenant_id, event_type, data) values ($1, $2, $3)',
};

/** Events go the way of every event: into the outbox by a transaction of another process, which then notifies. */
export async function openStreamMonitors(bench: Bench, database: string): Promise<StreamMonitors> {
  const ours = await openOurStore(bench, database);
  const { publishOf, close } = publisher(ours);
  bench.stack.add(`notifications ${database}`, close);
  const publish = publishOf('state-transition');
  const fill = publishOf('issue-status');
  const program = await buildService('monitor', bench.workDir);
  return {
    async start(name) {
      const { url, pid, stop } = await startChild({
        args: [program],
        env: { DATABASE_URL: ours.url, NODE_ENV: 'production', LOG_LEVEL: 'warn', ...UNLIMITED },
        logFile: join(bench.workDir, `${name}.log`),
      });
      return { url, pid, stop, publish: (event) => publish(stampedTransition(event)) };
    },
    publishFiller: (octets) => fill({ status: 'x'.repeat(octets) }),
  };
}

function publisher({ url, admin, tenantId }: OurStore) {
  const notifications = new Notifications({ directUrl: url, applicationName: 'bench', log: silentLogger });
  notifications.start();
  const publishOf = (type: string) => async (data: object) => {
    await admin.query({ ...INSERT, values: [tenantId, type, data] });
    notifications.notify('svc_stream', [tenantId]);
  };
  return { publishOf, close: () => notifications.close() };
}
