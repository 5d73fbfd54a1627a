import dns from 'node:dns/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { StartError } from './start-error.ts';

interface ListenOn {
  host: string;
  /** 0 = any free port. */
  port: number;
  /** Environment variable of the port, for the error message when the port is in use. */
  variable: string;
}

export interface LoopMetrics {
  runs: Counter<'loop' | 'outcome'>;
  seconds: Histogram<'loop'>;
  lastSuccess: Gauge<'loop'>;
}

export interface Metrics {
  /** Registry of this process; the global registry of prom-client is not used. */
  registry: Registry;
  loops: LoopMetrics;
}

/** Gauges with counter suffixes, which metric linters reject; their components are exported under other names. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

/**
 * Interval of the samples of the event loop's delay, which the `nodejs_eventloop_lag_*` quantiles include. The default of
 * 10 ms wakes an idle process a hundred times a second: 4 ms of CPU, a fifth of what a service costs at rest.
 */
const LAG_SAMPLE_MS = 50;

/** The metrics of one process. `processMetrics` adds memory, event loop and garbage collection. */
export function createMetrics({ processMetrics = false }: { processMetrics?: boolean } = {}): Metrics {
  const registry = new Registry();
  const registers = [registry];
  if (processMetrics) {
    collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LAG_SAMPLE_MS });
    for (const name of MISNAMED) registry.removeSingleMetric(name);
  }
  const loops: LoopMetrics = {
    runs: new Counter({
      name: 'svc_loop_runs_total',
      help: 'Runs of a background loop by outcome.',
      labelNames: ['loop', 'outcome'],
      registers,
    }),
    seconds: new Histogram({
      name: 'svc_loop_seconds',
      help: 'Duration of a run of a background loop.',
      labelNames: ['loop'],
      buckets: [0.005, 0.025, 0.1, 0.5, 2, 10, 60],
      registers,
    }),
    lastSuccess: new Gauge({
      name: 'svc_loop_last_success_timestamp_seconds',
      help: 'Time of the last successful run of a background loop.',
      labelNames: ['loop'],
      registers,
    }),
  };
  return { registry, loops };
}

/** Registers a gauge whose value is read at each scrape; null is exported as NaN. */
export function registerReadGauge(registry: Registry, name: string, help: string, read: () => number | null): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    collect() {
      this.set(read() ?? Number.NaN);
    },
  });
}

export interface Listening {
  url: string;
  close(): Promise<void>;
}

/**
 * Returns the address of this machine that a name stands for. In a container network, the replicas of a service share a
 * name: each listens on its own address. Without one of this machine: the name itself, which listening then refuses.
 */
async function ownAddress(host: string): Promise<string> {
  const own = Object.values(networkInterfaces()).flatMap((list = []) => list.map(({ address }) => address));
  const named = await dns.lookup(host, { all: true }).catch(() => []);
  return named.find(({ address }) => own.includes(address))?.address ?? host;
}

/**
 * Serves GET /metrics on a separate port. A host name stands for the address of this machine among its addresses.
 * @throws StartError naming METRICS_PORT when the port is in use.
 */
export async function serveMetrics(
  registry: Registry,
  { host = '127.0.0.1', port = 0 }: { host?: string | undefined; port?: number } = {},
): Promise<Listening> {
  const server = createServer((request, response) => {
    if (request.method !== 'GET' || request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    registry.metrics().then(
      (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
      (error: unknown) => response.writeHead(500, { 'content-type': 'text/plain' }).end(String(error)),
    );
  });
  const url = await listenOn(server, { host: await ownAddress(host), port, variable: 'METRICS_PORT' });
  return {
    url,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/**
 * Starts to listen.
 * @returns the base URL with the actual port.
 * @throws StartError naming the environment variable when the address is not available.
 */
export function listenOn(server: Server, { host, port, variable }: ListenOn): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const reasons: Record<string, string> = {
        EADDRINUSE: `port ${port} on ${host} is in use; set ${variable} to another one`,
        EACCES: `port ${port} on ${host} needs more rights; set ${variable} to one above 1023`,
        EADDRNOTAVAIL: `${host} is no address of this machine; set HOST to one`,
      };
      reject(
        new StartError(reasons[cause.code ?? ''] ?? `cannot listen on ${host}:${port}: ${cause.message}`, { cause }),
      );
    });
    server.listen(port, host, () => {
      const { port: taken } = server.address() as AddressInfo;
      resolve(`http://${host.includes(':') ? `[${host}]` : host}:${taken}`);
    });
  });
}
