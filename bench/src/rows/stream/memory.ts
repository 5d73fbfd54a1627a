import { sleep } from '@pipeline/runtime';
import { residentMib } from '../../measure/memory.ts';
import { StreamLoad } from '../../measure/stream-flow.ts';
import type { StreamServer } from '../../measure/stream-server.ts';
import { startStreamPeer } from '../../peers/stream-peer.ts';
import type { Bench, Case, Contender } from '../../runner/model.ts';
import type { StreamMonitors } from '../../services/stream-monitor.ts';

const WARMING = 50;
const EVENTS = 30;
const SETTLE_MS = 500;

/**
 * The first half of goal 10: resident memory that a connection costs. Each sample starts a new server, sends events
 * to fifty connections, and takes the difference between before and after many more have got thirty events each.
 * No garbage collection is forced: what requests leave behind counts, as it does in life.
 */
export function memoryCase(bench: Bench, monitors: StreamMonitors): Case {
  const connections = bench.quick ? 1_000 : 5_000;
  const contender = (name: string, start: () => Promise<StreamServer>): Contender => ({
    name,
    sample: async () => ({ value: await kibPerConnection(bench, await start(), connections), cpu: null }),
  });
  return {
    title: `stream: memory of a connection, ${connections} open`,
    unit: 'KiB',
    ours: contender('ours', () => monitors.start('monitor-memory')),
    anchors: [
      { contender: contender('raw node:http', () => startStreamPeer(bench, 'stream-raw')), bound: { atMost: 1.15 } },
      {
        contender: contender('better-sse', () => startStreamPeer(bench, 'stream-better-sse')),
        bound: { atMost: 0.7 },
      },
    ],
  };
}

async function kibPerConnection(bench: Bench, server: StreamServer, connections: number): Promise<number> {
  const load = new StreamLoad(server);
  // A sample that is cut short leaves its processes to the end of the row; to stop twice is no harm.
  bench.stack.add('server of a sample', () => server.stop());
  bench.stack.add('crowd of a sample', () => load.crowd.stop());
  try {
    await load.crowd.resize(WARMING);
    await load.warmUp(EVENTS);
    await sleep(SETTLE_MS);
    const before = residentMib(server.pid);
    await load.crowd.resize(WARMING + connections);
    await load.warmUp(EVENTS);
    await sleep(SETTLE_MS);
    return ((residentMib(server.pid) - before) * 1024) / connections;
  } finally {
    await load.crowd.stop();
    await server.stop();
  }
}
