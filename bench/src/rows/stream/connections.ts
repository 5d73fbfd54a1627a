import type { Row } from '../../runner/model.ts';
import { openStreamMonitors } from '../../services/stream-monitor.ts';
import { memoryCase } from './memory.ts';
import { slowReaderCase } from './slow-reader.ts';

/** Goal 10: see memory.ts and slow-reader.ts. */
export const connectionsRow: Row = {
  goal: 10,
  title: 'stream: memory, slow reader',
  async open(bench) {
    // Each its own store: one's events are the other's, too, on one.
    const monitors = await openStreamMonitors(bench, 'bench_stream_memory');
    const beside = await openStreamMonitors(bench, 'bench_stream_slow_reader');
    return { cases: [memoryCase(bench, monitors), await slowReaderCase(bench, beside)] };
  },
};
