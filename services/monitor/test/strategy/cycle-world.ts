/** A repo whose weekly strategy cycle runs when a test starts it, for the tests of a file. */
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach } from '@jest/globals';
import { DAY_MS, type StrategyAutomation, type StrategyRun } from '@pipeline/domain';
import { runDueStrategies } from '@pipeline/engine';
import { jsonb } from '@pipeline/store';
import type { TestDatabase } from '@pipeline/testing';
import { sql } from 'kysely';
import { type Bench, makeBench } from '../support/bench.ts';
import { type Call, serveConnected } from '../support/served-app.ts';
import { BASE, ENVELOPE, makeTrack, type Snapshot } from './strategy-world.ts';

// A Wednesday.
export const START = Date.parse('2026-12-23T05:06:07.000Z');
export const OLGA = { type: 'operator', id: 'olga', agent: null } as const;

const weightsOf = async (database: TestDatabase) =>
  Object.fromEntries(
    (await database.db.selectFrom('tracks').select(['name', 'weight']).execute()).map(({ name, weight }) => [
      name,
      weight,
    ]),
  );

export function testStrategyCycle(database: TestDatabase) {
  const env = { bench: undefined as unknown as Bench, call: undefined as unknown as Call };
  let close: () => Promise<void>;

  const day = (days: number) => {
    database.clock.now = new Date(START + days * DAY_MS);
  };

  beforeEach(async () => {
    day(0);
    env.bench = await makeBench(database.store, 'Acme/Shop');
    const served = await serveConnected({ engine: env.bench.engine });
    env.call = served.call;
    close = served.close;
  });
  afterEach(async () => {
    await close();
    for (const table of [
      'strategy_snapshots',
      'strategy_charters',
      'strategy_automation',
      'strategy_runs',
      'kpi_snapshots',
      'finding_sightings',
      'findings',
      'tracks',
    ] as const)
      await database.db.deleteFrom(table).execute();
  });

  const get = async <T>(path: string): Promise<T> => (await env.call('GET', `${BASE}${path}`)).json as T;
  const run = async () => (await get<{ run: StrategyRun | null }>('/run-state')).run;
  const automation = async () => (await get<{ automation: StrategyAutomation }>('/automation')).automation;
  const snapshot = async (version: number) => (await get<{ snapshot: Snapshot }>(`/snapshots/${version}`)).snapshot;
  const tick = () => runDueStrategies(env.bench.engine);
  const charter = (envelope: object = {}) =>
    env.call('PUT', `${BASE}/charter`, { body: { goals: 'Better', envelope: { ...ENVELOPE, ...envelope } } });
  const turn = (enabled: boolean) => env.call('PUT', `${BASE}/automation`, { body: { enabled } });
  const weights = () => weightsOf(database);

  /** Inserts a regression as if the regression guard had just found it. */
  const regress = (kpi: string, magnitude = 'medium', regressed = true) =>
    sql`
    insert into kpi_snapshots (tenant_id, repo_id, kpi, day, computed_at, value, baseline_value, relative_delta, sample_size,
      baseline_sample_size, regressed, magnitude, direction)
    values (${env.bench.tenantId}, ${env.bench.repo.id}, ${kpi}, ${database.clock.now?.toISOString() ?? ''}::timestamptz::date,
      ${database.clock.now?.toISOString() ?? ''}::timestamptz, 0.4, 0.3, 0.33, 10, 40, ${regressed}, ${magnitude}, 'rise')
    on conflict (tenant_id, repo_id, kpi, day) do update set regressed = excluded.regressed`.execute(database.db);

  const finding = (category: string, severity: 'low' | 'critical', status: 'open' | 'dismissed' = 'open') =>
    database.db
      .insertInto('findings')
      .values({
        tenant_id: env.bench.tenantId,
        id: randomUUID(),
        repo_id: env.bench.repo.id,
        agent_name: 'reviewer',
        finding_type: 'risk',
        category,
        severity,
        title: `A ${severity} risk`,
        summary: '',
        evidence: jsonb([]),
        metadata: jsonb({}),
        blocks_progress: false,
        status,
      })
      .execute();

  /** A repo whose weekly cycle is due, with two tracks of weight 1. */
  const ready = async (envelope: object = {}) => {
    for (const name of ['tests', 'docs']) await makeTrack(env.bench, name);
    await charter(envelope);
    await turn(true);
  };

  return { env, day, get, run, automation, snapshot, tick, charter, turn, weights, regress, finding, ready };
}
