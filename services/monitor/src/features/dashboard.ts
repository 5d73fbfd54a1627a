import { readCounts, readFigures, readLive } from '@pipeline/engine';
import { Dashboard } from '../analytics/dashboard.ts';
import { PolledValue } from '../polling/polled-value.ts';
import type { PolledDashboard } from '../prometheus/pipeline-gauges.ts';
import type { AgentSnapshot } from '../workers/agents.ts';
import { SECOND_MS, type Wiring } from './wiring.ts';

/** Interval between two reads of the live counts, which people watch. */
const COUNTS_EVERY_MS = 3 * SECOND_MS;

/** The dashboard in memory, and the loops that read it: what changes fast often, what is dear seldom. */
export function addDashboard(
  { engine, loops, storeWatch, now, listsEveryMs }: Wiring,
  agents: () => readonly AgentSnapshot[],
): { dashboard: Dashboard; polled: PolledDashboard; loops: string[] } {
  const counts = new PolledValue(() => readCounts(engine), now);
  const live = new PolledValue(() => readLive(engine), now);
  const figures = new PolledValue(() => readFigures(engine), now);
  const refreshMs = () => engine.settings().pollIntervals.metricsRefreshMin * 60 * SECOND_MS;
  const names = [
    loops.add('dashboard-counts', COUNTS_EVERY_MS, () => counts.refresh()),
    loops.add('dashboard', listsEveryMs, () => live.refresh()),
    loops.add('dashboard-figures', refreshMs, () => figures.refresh()),
  ].map(({ name }) => name);
  const startedAt = now().getTime();
  const dashboard = new Dashboard({
    counts,
    live,
    figures,
    agents,
    now,
    isStoreConnected: () => storeWatch.isConnected,
    isFresh: () => loops.isFresh(names),
    uptime: () => (now().getTime() - startedAt) / SECOND_MS,
  });
  return { dashboard, polled: { counts, live, figures }, loops: names };
}
