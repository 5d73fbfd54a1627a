import type { Dashboard as WireDashboard } from '@pipeline/contract';
import { dashboardStatus, type MetricWindowDays, SECOND_MS } from '@pipeline/domain';
import {
  type AgentWork,
  agentWork,
  type Counts,
  dashboardMetrics,
  type Figures,
  type Live,
  pipelineSummary,
  readCounts,
  readFigures,
  readLive,
  timelineTexts,
  workerPools,
} from '@pipeline/engine';
import { PreparedJson } from '@pipeline/http';
import type { z } from 'zod';
import { PolledValue } from '../polling/polled-value.ts';
import type { PolledDashboard } from '../prometheus/pipeline-gauges.ts';
import type { Wiring } from '../wiring/wiring.ts';
import { type AgentSnapshot, workerAgents } from '../workers/agents.ts';

type Body = z.input<typeof WireDashboard>;
type Head = Pick<Body, 'status' | 'uptime' | 'agents'>;

export interface DashboardDeps extends PolledDashboard {
  /** Those that are configured. */
  agents: () => readonly AgentSnapshot[];
  isStoreConnected: () => boolean;
  /** Returns whether the loops that read it run well. */
  isFresh: () => boolean;
  /** Seconds. */
  uptime: () => number;
  now: () => Date;
}

/** Parts of the dashboard that a request selects. */
interface Shown {
  /** Window of the metrics in days. */
  window: MetricWindowDays;
  /** Maximum number of timelines; the section is absent before the first poll. */
  timelines: number;
  hasMetrics: boolean;
}

/** Made of some parts; made again when one of them is another. */
interface Made<T> {
  of: readonly unknown[];
  result: T;
}

/** Values of the monitor that change with every second, in seconds. */
interface Clock {
  uptime: number;
  now: number;
}

/** The clock of a version: a copy of the dashboard does not become outdated by the passing of time alone. */
const STOPPED: Clock = { uptime: 0, now: 0 };

/**
 * The dashboard, from memory (interface: Dashboard). What was polled is turned into text once for each poll and window,
 * the whole once a second at most. A request costs a comparison, unless something has changed.
 */
export class Dashboard {
  readonly #deps: DashboardDeps;
  readonly #texts = new Map<MetricWindowDays | null, Made<string>>();
  readonly #pages = new Map<MetricWindowDays | null, Made<PreparedJson>>();
  #timelines: { of: readonly unknown[]; texts: [string, string][] } = { of: [], texts: [] };
  #work: { of: readonly unknown[]; by: ReadonlyMap<string, AgentWork> } = { of: [], by: new Map() };

  constructor(deps: DashboardDeps) {
    this.#deps = deps;
  }

  /**
   * Returns the response. Requests within one second for the same parts share it. Its ETag stays the same while only the
   * monitor's uptime and the time of its own health change.
   */
  page({ window, timelines, hasMetrics }: Shown): PreparedJson {
    const metrics = hasMetrics ? window : null;
    const { counts, live, figures, agents, isStoreConnected, isFresh } = this.#deps;
    const clock = this.#clock();
    const polls = [counts.last, live.last, figures.last];
    const outside = [isStoreConnected(), isFresh(), JSON.stringify(agents())];
    return made(this.#pages, metrics, [...polls, ...outside, clock.uptime, clock.now, timelines], () => {
      const shown = live.last && timelines > 0 ? [timelinesJson(this.#timelineTexts().slice(0, timelines))] : [];
      const rest = `${[...shown, this.#polled(metrics).slice(1, -1)].join(',')}}`;
      const textAt = (at: Clock) => `${JSON.stringify(this.#head(at)).slice(0, -1)},${rest}`;
      return new PreparedJson(textAt(clock), textAt(STOPPED));
    });
  }

  #clock(): Clock {
    return { uptime: Math.floor(this.#deps.uptime()), now: Math.floor(this.#deps.now().getTime() / SECOND_MS) };
  }

  #head(clock: Clock): Head {
    const { live } = this.#deps;
    const work = this.#workOfAgents();
    const [configured, ran] = this.#agents();
    const watched = [monitorItself(clock), ...configured];
    const agents = [...watched, ...ran].map(({ healthySince: _, ...agent }) => ({
      ...agent,
      configReload: agent.configReload ?? null,
      ...(work.get(agent.agentName) ?? { costUsd: 0, inFlightIssues: [], tenantSpend: {} }),
    }));
    return {
      status: dashboardStatus({
        isStoreConnected: this.#deps.isStoreConnected(),
        severities: live.last?.value.alerts.map(({ severity }) => severity) ?? [],
        agents: watched.map(({ reachable, health: { status } }) => ({ reachable, status })),
        isFresh: this.#deps.isFresh(),
      }),
      uptime: clock.uptime,
      agents: Object.fromEntries(agents.map((agent) => [agent.agentName, agent])),
    };
  }

  /** Every agent of the pipeline but the monitor: those that are configured, then those whose work has run. */
  agents(): AgentSnapshot[] {
    return this.#agents().flat();
  }

  #agents(): [configured: AgentSnapshot[], ran: AgentSnapshot[]] {
    const { live } = this.#deps;
    const configured = this.#deps.agents().filter(({ agentName }) => agentName !== 'monitor');
    const names = new Set(configured.map(({ agentName }) => agentName));
    const ran = live.last ? workerAgents(live.last.value, live.last.polledAt) : [];
    return [configured, ran.filter(({ agentName }) => !names.has(agentName))];
  }

  #workOfAgents(): ReadonlyMap<string, AgentWork> {
    const [counts, live] = [this.#deps.counts.last, this.#deps.live.last];
    if (this.#work.of[0] !== counts || this.#work.of[1] !== live) {
      this.#work = { of: [counts, live], by: counts && live ? agentWork(counts.value, live.value) : new Map() };
    }
    return this.#work.by;
  }

  #timelineTexts(): [string, string][] {
    const [counts, live] = [this.#deps.counts.last, this.#deps.live.last];
    if (this.#timelines.of[0] !== counts?.value.repos || this.#timelines.of[1] !== live) {
      const texts = counts && live ? timelineTexts(counts.value.repos, live.value.timelines) : [];
      this.#timelines = { of: [counts?.value.repos, live], texts };
    }
    return this.#timelines.texts;
  }

  #polled(metrics: MetricWindowDays | null): string {
    const { counts, live, figures } = this.#deps;
    const polls = [counts.last, live.last, figures.last];
    return made(this.#texts, metrics, polls, () => JSON.stringify(this.#body(metrics)));
  }

  /** @param metrics window of the metrics; null = without them. */
  #body(metrics: MetricWindowDays | null): Omit<Body, keyof Head> {
    const { counts, live, figures } = this.#deps;
    const alive = live.last?.value;
    const counted = counts.last?.value ?? { repos: [], counts: [] };
    return {
      alerts: alive?.alerts ?? [],
      costTotalUsd: alive?.costs.lifetimeUsd ?? 0,
      ...(alive && {
        costByWindow: alive.costs,
        tenants: alive.budgets,
        workerPool: workerPools(counted, alive),
      }),
      ...(alive &&
        figures.last &&
        metrics !== null && {
          metrics: dashboardMetrics({ counts: counted, live: alive, figures: figures.last.value }, metrics),
        }),
      pipelineSummary: pipelineSummary(counted),
      polledAt: oldest([counts.last?.polledAt, live.last?.polledAt]),
    };
  }
}

const timelinesJson = (texts: readonly [string, string][]): string =>
  `"issueTimelines":{${texts.map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(',')}}`;

/** Returns the result that was made of the same parts before, or makes it now. */
function made<Key, T>(known: Map<Key, Made<T>>, key: Key, of: readonly unknown[], make: () => T): T {
  const last = known.get(key);
  if (last?.of.every((part, index) => part === of[index])) return last.result;
  const result = make();
  known.set(key, { of, result });
  return result;
}

/** Creates the dashboard in memory, and the values of the store that its loops read. */
export function createDashboard(
  { engine, loops, storeWatch, now }: Wiring,
  agents: () => readonly AgentSnapshot[],
): { dashboard: Dashboard; polled: PolledDashboard } {
  const polled = {
    counts: new PolledValue(() => readCounts(engine), now),
    live: new PolledValue(() => readLive(engine), now),
    figures: new PolledValue(() => readFigures(engine), now),
  };
  const startedAt = now().getTime();
  const dashboard = new Dashboard({
    ...polled,
    agents,
    now,
    isStoreConnected: () => storeWatch.isConnected,
    isFresh: () => loops.isFresh(['dashboard-counts', 'dashboard', 'dashboard-figures']),
    uptime: () => (now().getTime() - startedAt) / SECOND_MS,
  });
  return { dashboard, polled };
}

/** Returns the dashboard of a monitor that has no store: nothing is ever read, and the reason is reported. */
export function dashboardWithoutStore(now: () => Date, agents: () => readonly AgentSnapshot[] = () => []): Dashboard {
  const never = <T>() => new PolledValue<T>(() => Promise.reject(new Error('no store is configured')), now);
  const startedAt = now().getTime();
  return new Dashboard({
    counts: never<Counts>(),
    live: never<Live>(),
    figures: never<Figures>(),
    now,
    agents,
    isStoreConnected: () => false,
    isFresh: () => false,
    uptime: () => (now().getTime() - startedAt) / SECOND_MS,
  });
}

/** It is well, or it would not answer. */
const monitorItself = ({ now, uptime }: Clock): AgentSnapshot => ({
  agentName: 'monitor',
  reachable: true,
  timestamp: now * SECOND_MS,
  responseTimeMs: 0,
  health: { status: 'healthy', uptime, version: null, lastError: null, consecutiveFailures: 0, currentTaskId: null },
  healthySince: null,
  restarts: 0,
  lastRestartAt: null,
  configReload: null,
});

/** Null until all have been read. */
const oldest = (polls: readonly (string | undefined)[]): string | null =>
  polls.every((poll) => poll !== undefined) ? (polls.toSorted()[0] ?? null) : null;
