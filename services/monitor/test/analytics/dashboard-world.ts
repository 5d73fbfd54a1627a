/** A dashboard over a store of its own, for the tests of a file. */
import { afterEach, beforeAll, beforeEach } from '@jest/globals';
import { DEFAULT_SETTINGS } from '@pipeline/domain';
import { type Counts, type Figures, fail, type Live, readCounts, readFigures, readLive } from '@pipeline/engine';
import type { TestDatabase } from '@pipeline/testing';
import { sql } from 'kysely';
import { Dashboard, type DashboardDeps } from '../../src/analytics/dashboard.ts';
import { PolledValue } from '../../src/polling/polled-value.ts';
import { admit, type Bench, makeBench } from '../support/bench.ts';
import { type Call, serveApp } from '../support/served-app.ts';
import { claimWork } from '../workers/agent-work.ts';

export const START = Date.parse('2026-03-11T12:00:00.000Z');
const storeWatch = { isConnected: true } as never;
const EMPTIED = ['tasks', 'dead_letters', 'alerts', 'cost_events', 'cost_sums', 'closed_facts', 'budget_days', 'runs'];

export const DEVELOPER = {
  ...{ agentName: 'analyzer', reachable: true, timestamp: START, responseTimeMs: 12, healthySince: START },
  health: {
    status: 'healthy' as const,
    uptime: 5,
    version: '1',
    lastError: null,
    consecutiveFailures: 0,
    currentTaskId: null,
  },
  ...{ restarts: 2, lastRestartAt: new Date(START - 3_600_000).toISOString(), configReload: null },
};

interface Shown extends Record<string, unknown> {
  status: string;
  alerts: { severity: string }[];
  agents: Record<string, object>;
  metrics: Record<string, object>;
  tenants: { tenants: object[] };
  workerPool: { repo: string }[];
}

const emptyEnvironment = () => ({
  bench: undefined as unknown as Bench,
  call: undefined as unknown as Call,
  url: '',
  /** The number of the newest issue. */
  number: 0,
  /** State of the store, the polls and the agents as the dashboard has it. */
  connected: true,
  fresh: true,
  agents: [] as ReturnType<DashboardDeps['agents']>,
  /** Every statement that the store was sent. */
  statements: [] as string[],
});

export function testDashboard(database: TestDatabase) {
  const env = emptyEnvironment();
  const now = () => database.clock.now ?? new Date();
  const at = (minutes: number) => {
    database.clock.now = new Date(START + minutes * 60_000);
  };
  const iso = (minutes: number) => new Date(START + minutes * 60_000).toISOString();

  let close: () => Promise<void>;
  let polls: { counts: PolledValue<Counts>; live: PolledValue<Live>; figures: PolledValue<Figures> };
  beforeAll(async () => {
    at(0);
    env.bench = await makeBench(database.store, 'Acme/Shop');
  });

  beforeEach(async () => {
    at(0);
    Object.assign(env, { connected: true, fresh: true, agents: [] });
    for (const table of EMPTIED) await sql`delete from ${sql.table(table)}`.execute(database.db);
    await sql`update workers set left_at = svc_now()`.execute(database.db);
    const store = database.open({ onStatement: (text) => env.statements.push(text) });
    const settings = { ...DEFAULT_SETTINGS, costLimits: { ...DEFAULT_SETTINGS.costLimits, dailyUsd: 10 } };
    const engine = { ...env.bench.engine, store, settings: () => settings };
    polls = {
      counts: new PolledValue(() => readCounts(engine), now),
      live: new PolledValue(() => readLive(engine), now),
      figures: new PolledValue(() => readFigures(engine), now),
    };
    const dashboard = new Dashboard({
      ...{ ...polls, now, agents: () => env.agents, uptime: () => 42.7 },
      ...{ isStoreConnected: () => env.connected, isFresh: () => env.fresh },
    });
    const served = await serveApp({ dashboard, pipeline: { engine, storeWatch } });
    Object.assign(env, { call: served.call, url: served.url });
    close = async () => {
      await served.close();
      await store.close();
    };
  });
  afterEach(() => close());

  const poll = async () => {
    for (const value of Object.values(polls)) await value.refresh();
  };
  const read = async (query = '') => (await env.call('GET', `/dashboard${query}`)).json as never as Shown;
  const polled = async (query = '') => {
    await poll();
    return read(query);
  };

  const enter = async (bare = env.bench): Promise<number> => {
    env.number += 1;
    return admit(bare, env.number);
  };
  /** Work on the newest issue that has cost something and failed. */
  const spend = async (costUsd: number, of = env.bench): Promise<void> => {
    const work = await claimWork(of, `w${env.number}`);
    const tokens = {
      inputTokens: 1 + Math.ceil(costUsd * 1_000_000),
      outputTokens: 1,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
    };
    const call = {
      index: 0,
      model: 'large',
      provider: 'p',
      ...tokens,
      turns: 1,
      costUsd,
      stopReason: 'error' as const,
    };
    const failure = { errorMessage: 'no', errorClass: 'transient' as const, invocations: [call] };
    await fail(of.engine, work, failure);
    await sql`delete from tasks`.execute(database.db);
  };

  return { env, at, iso, poll, read, polled, enter, spend };
}
