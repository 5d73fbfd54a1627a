import { sleep } from '@pipeline/runtime';
import { StreamLoad } from '../../measure/stream-flow.ts';
import { type Crowd, startCrowd } from '../../measure/subscribers/crowd.ts';
import type { Bench, Case, Contender } from '../../runner/model.ts';
import type { StreamMonitors } from '../../services/stream-monitor.ts';

const SUBSCRIBERS = 1_000;
const FILLER_OCTETS = 64 * 1024;
const FILLERS_PER_SECOND = 100;

/**
 * The second half of goal 10: what one subscriber that reads nothing does to the others. A thousand ask for transitions,
 * a hundred a second; one more asks for another type, of which 6.5 MB a second are published, so that what waits for it
 * outgrows the kernel's room and then the monitor's. Once it reads nothing, once it reads all: the p99 of the others.
 * Checked: nobody else misses an event, and the one that reads nothing is cut.
 */
export async function slowReaderCase(bench: Bench, monitors: StreamMonitors): Promise<Case> {
  const server = await monitors.start('monitor-slow-reader');
  bench.stack.add('monitor of the slow reader', () => server.stop());
  const load = new StreamLoad(server, '/api/events?types=state-transition');
  bench.stack.add('crowd beside the slow reader', () => load.crowd.stop());
  await load.crowd.resize(100);
  await load.warmUp(50);
  await load.crowd.resize(0);
  const contender = (name: string, isStalled: boolean): Contender => ({
    name,
    async sample() {
      const one = startCrowd(server.url, { path: '/api/events?types=issue-status', isStalled });
      bench.stack.add('the slow reader', () => one.stop());
      return { value: await p99Beside(one, { bench, load, monitors, isStalled }), cpu: null };
    },
  });
  return {
    title: `stream: p99 of ${SUBSCRIBERS} beside one that reads nothing / that reads`,
    unit: 'ms',
    ours: contender('beside one that reads nothing', true),
    anchors: [{ contender: contender('beside one that reads', false), bound: { atMost: 1.2 } }],
  };
}

interface Beside {
  bench: Bench;
  load: StreamLoad;
  monitors: StreamMonitors;
  isStalled: boolean;
}

async function p99Beside(one: Crowd, { bench, load, monitors, isStalled }: Beside): Promise<number> {
  const over = new AbortController();
  try {
    await load.crowd.resize(SUBSCRIBERS);
    await one.resize(1);
    const flowing = load.flow(SUBSCRIBERS, bench.quick ? 1.5 : 3).finally(() => over.abort());
    const [{ seen }] = await Promise.all([flowing, fill(monitors, over.signal)]);
    if (isStalled) await one.requireCut();
    await load.crowd.resize(0);
    return seen.p99Ms;
  } finally {
    await one.stop();
  }
}

async function fill(monitors: StreamMonitors, signal: AbortSignal): Promise<void> {
  while (await sleep(1_000 / FILLERS_PER_SECOND, signal)) await monitors.publishFiller(FILLER_OCTETS);
}
