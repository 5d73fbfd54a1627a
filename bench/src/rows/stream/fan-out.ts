import type { Sample } from '../../measure/sample.ts';
import { type Flow, StreamLoad } from '../../measure/stream-flow.ts';
import type { StreamServer } from '../../measure/stream-server.ts';
import { startStreamPeer } from '../../peers/stream-peer.ts';
import type { Bench, Case, Contender, Row } from '../../runner/model.ts';
import { median } from '../../runner/verdict.ts';
import { openStreamMonitors } from '../../services/stream-monitor.ts';

const FEW = 1_000;
const MANY = 5_000;

/**
 * Goal 9: a hundred events a second of about 200 octets to every subscriber. Ours is the built monitor: events come
 * out of the store, where another process commits each by itself. Its anchors, node:http with one write of one Buffer
 * per event and connection, and a channel of better-sse, are given them by POST and keep nothing.
 * First: CPU of the server's process per message, 1,000 subscribers; for the monitor that includes numbering, reading
 * and everything else it does meanwhile. Second: messages per second that arrive at 5,000.
 * Checked: every subscriber gets every event; a hundred of them read all and see no gap and none twice.
 */
export const fanOutRow: Row = {
  goal: 9,
  title: 'stream: fan-out',
  async open(bench) {
    const monitors = await openStreamMonitors(bench, 'bench_stream');
    const ours = await loadOf(bench, 'monitor-stream', await monitors.start('monitor-stream'));
    const raw = await loadOf(bench, 'raw', await startStreamPeer(bench, 'stream-raw'));
    const better = await loadOf(bench, 'better-sse', await startStreamPeer(bench, 'stream-better-sse'));
    const shares: number[] = [];
    return {
      cases: [cpuCase(bench, { ours, raw, better }), deliveredCase(bench, { ours, better }, shares)],
      async facts() {
        const title = `stream: share of the target that arrives, ${MANY} x 100/s`;
        return [{ title, value: median(shares), unit: 'share', bound: { atLeast: 0.98 } }];
      },
    };
  },
};

async function loadOf(bench: Bench, name: string, server: StreamServer): Promise<StreamLoad> {
  bench.stack.add(name, () => server.stop());
  const load = new StreamLoad(server);
  bench.stack.add(`crowd of ${name}`, () => load.crowd.stop());
  await load.crowd.resize(100);
  await load.warmUp(50);
  return load;
}

function cpuCase(bench: Bench, { ours, raw, better }: Record<'ours' | 'raw' | 'better', StreamLoad>): Case {
  const contender = (name: string, load: StreamLoad): Contender => ({
    name,
    sample: () => alone(load, FEW, bench, ({ cpuUs }) => ({ value: cpuUs, cpu: null })),
  });
  return {
    title: `stream: CPU per message, ${FEW} x 100/s`,
    unit: 'us CPU',
    ours: contender('ours', ours),
    anchors: [
      { contender: contender('raw node:http', raw), bound: { atMost: 1.1 } },
      { contender: contender('better-sse channel', better), bound: { atMost: 0.35 } },
    ],
  };
}

function deliveredCase(bench: Bench, of: Record<'ours' | 'better', StreamLoad>, shares: number[]): Case {
  const sampleOf = (load: StreamLoad, note: (flow: Flow) => void) => () =>
    alone(load, MANY, bench, (flow) => {
      note(flow);
      return { value: flow.perSecond, cpu: { self: 0, services: flow.cpuUs, postgres: 0 } };
    });
  const better = sampleOf(of.better, () => undefined);
  return {
    title: `stream: delivered, ${MANY} x 100/s`,
    unit: 'messages/s',
    ours: { name: 'ours', sample: sampleOf(of.ours, ({ ofTarget }) => shares.push(ofTarget)) },
    anchors: [{ contender: { name: 'better-sse channel', sample: better }, bound: { atLeast: 3 } }],
  };
}

/** Connections of the others are closed meanwhile: they would be looked after. */
async function alone(load: StreamLoad, subscribers: number, bench: Bench, asSample: (flow: Flow) => Sample) {
  const flow = await load.flow(subscribers, bench.quick ? 1 : 3);
  const { seen, ofTarget } = flow;
  bench.say(
    `${load.server.url}: ${ofTarget.toFixed(2)} of the target, p50 ${seen.p50Ms.toFixed(1)}, p99 ${seen.p99Ms.toFixed(1)} ms`,
  );
  await load.crowd.resize(0);
  return asSample(flow);
}
