import { join } from 'node:path';
import { Pool } from 'undici';
import { type StreamServer, stampedTransition } from '../measure/stream-server.ts';
import type { Bench } from '../runner/model.ts';
import { startChild } from '../services/child.ts';

const SERVERS = join(import.meta.dirname, 'servers');

/** Another server of streams as a process of its own; it keeps nothing and gets its events by POST. */
export async function startStreamPeer(bench: Bench, name: 'stream-raw' | 'stream-better-sse'): Promise<StreamServer> {
  const child = await startChild({
    args: ['--disable-warning=ExperimentalWarning', join(SERVERS, `${name}-main.ts`)],
    env: { NODE_ENV: 'production' },
    logFile: join(bench.workDir, `peer-${name}.log`),
  });
  const pool = new Pool(child.url, { connections: 1 });
  return {
    url: child.url,
    pid: child.pid,
    async publish(event) {
      const body = JSON.stringify(stampedTransition(event));
      const answer = await pool.request({ path: '/publish', method: 'POST', body });
      await answer.body.dump();
      if (answer.statusCode !== 204) throw new Error(`${name}: publish returned answer.statusCode}`);
    },
    async stop() {
      await pool.destroy();
      await child.stop();
    },
  };
}
