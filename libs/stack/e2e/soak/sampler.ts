import { readFile } from 'node:fs/promises';
import { sleep } from '@pipeline/runtime';
import type { Service } from '../../test/replicas/service.ts';
import type { StoreView } from '../store-view.ts';
import { percentile, type Requests } from './requests.ts';

const MEMORY_EVERY_MS = 5_000;
const MIB = 1024 * 1024;

interface Memory {
  rssMib: number;
  heapMib: number;
}

/** One minute of the run. */
export interface Sample {
  /** Memory by name of the process; the smallest values of the minute, which garbage collections leave. */
  memory: Record<string, Memory>;
  store: StoreSample;
  requests: number;
  errors: string[];
  p50Ms: number;
  p95Ms: number;
}

interface StoreSample {
  databaseMib: number;
  connections: number;
  /** Tasks, claimed ones included. */
  tasks: number;
  outbox: number;
  outboxSeconds: number;
  inbox: number;
  inboxSeconds: number;
  done: number;
}

const STORE = `select
  (pg_database_size(current_database()) / ${MIB}::float8) "databaseMib",
  (select count(*)::int from pg_stat_activity where datname = current_database()) connections,
  (select count(*)::int from tasks) tasks,
  (select count(*)::int from projections where status = 'pending') outbox,
  (select coalesce(max(extract(epoch from now() - created_at)), 0)::float8 from projections where status = 'pending')
    "outboxSeconds",
  (select count(*)::int from webhook_deliveries where processed_at is null) inbox,
  (select coalesce(max(extract(epoch from now() - received_at)), 0)::float8 from webhook_deliveries
    where processed_at is null) "inboxSeconds",
  (select count(*)::int from issues where state = 'done') done`;

interface Watched {
  name: string;
  service: Service;
}

/** Reads the processes of the services, the store and the requests. */
export class Sampler {
  readonly #watched: readonly Watched[];
  readonly #store: StoreView;
  readonly #requests: Requests;
  readonly #seenLines = new Map<string, number>();

  constructor(watched: readonly Watched[], store: StoreView, requests: Requests) {
    this.#watched = watched;
    this.#store = store;
    this.#requests = requests;
  }

  /** @returns null when the signal ended the minute early. */
  async minute(signal: AbortSignal): Promise<Sample | null> {
    const end = performance.now() + 60_000;
    const memory: Record<string, Memory> = {};
    do {
      if (!(await sleep(MEMORY_EVERY_MS, signal))) return null;
      for (const { name, service } of this.#watched) memory[name] = lower(memory[name], await memoryOf(service));
    } while (performance.now() < end);
    const [store] = await this.#store.rows<StoreSample>(STORE);
    if (!store) throw new Error('the store returned no sample');
    const { ms, errors } = this.#requests.take();
    return {
      memory,
      store,
      requests: ms.length,
      errors: [...errors, ...this.#errorLines()],
      p50Ms: percentile(ms, 0.5),
      p95Ms: percentile(ms, 0.95),
    };
  }

  /** Lists what the services have logged as errors since the last minute. */
  #errorLines(): string[] {
    return this.#watched.flatMap(({ name, service }) => {
      const from = this.#seenLines.get(name) ?? 0;
      this.#seenLines.set(name, service.lines.length);
      const errors = service.lines.slice(from).filter(({ level }) => level === 'error');
      return errors.map((line) => `${name} logged ${JSON.stringify(line).slice(0, 400)}`);
    });
  }
}

const lower = (before: Memory | undefined, now: Memory): Memory => ({
  rssMib: Math.min(before?.rssMib ?? Number.POSITIVE_INFINITY, now.rssMib),
  heapMib: Math.min(before?.heapMib ?? Number.POSITIVE_INFINITY, now.heapMib),
});

async function memoryOf({ pid, metricsUrl }: Service): Promise<Memory> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const rssKib = Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]);
  if (metricsUrl() === null) throw new Error('the service has no metrics: set METRICS_PORT');
  const metrics = await (await fetch(metricsUrl() ?? '', { signal: AbortSignal.timeout(30_000) })).text();
  const heap = Number(/^nodejs_heap_size_used_bytes (\S+)$/m.exec(metrics)?.[1]);
  return { rssMib: rssKib / 1024, heapMib: heap / MIB };
}
