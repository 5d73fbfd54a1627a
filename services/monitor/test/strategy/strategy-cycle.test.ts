import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { DAY_MS, isoWeek, type StrategyAutomation, type StrategyRun } from '@pipeline/domain';
import { runDueStrategies, setAutomation, updateTrackAt } from '@pipeline/engine';
import { silentLogger } from '@pipeline/runtime';
import { jsonb, type Notifications } from '@pipeline/store';
import { testDatabase } from '@pipeline/testing';
import { sql } from 'kysely';
import { strategyTick } from '../../src/features/strategy.ts';
import { Lead } from '../../src/loops/lead.ts';
import { type Bench, makeBench } from '../support/bench.ts';
import { connectedDoorbell } from '../support/sandbox-world.ts';
import { type Call, serveConnected } from '../support/served-app.ts';
import { at, BASE, ENVELOPE, makeTrack, type Snapshot } from './strategy-world.ts';

const database = testDatabase();
// A Wednesday.
const START = Date.parse('2026-12-23T05:06:07.000Z');
const OLGA = { type: 'operator', id: 'olga', agent: null } as const;
let bench: Bench;
let call: Call;
let close: () => Promise<void>;

const day = (days: number) => {
  database.clock.now = new Date(START + days * DAY_MS);
};

beforeEach(async () => {
  day(0);
  bench = await makeBench(database.store, 'Acme/Shop');
  ({ call, close } = await serveConnected({ engine: bench.engine }));
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

const get = async <T>(path: string): Promise<T> => (await call('GET', `${BASE}${path}`)).json as T;
const run = async () => (await get<{ run: StrategyRun | null }>('/run-state')).run;
const automation = async () => (await get<{ automation: StrategyAutomation }>('/automation')).automation;
const snapshot = async (version: number) => (await get<{ snapshot: Snapshot }>(`/snapshots/${version}`)).snapshot;
const tick = () => runDueStrategies(bench.engine);
const charter = (envelope: object = {}) =>
  call('PUT', `${BASE}/charter`, { body: { goals: 'Better', envelope: { ...ENVELOPE, ...envelope } } });
const turn = (enabled: boolean) => call('PUT', `${BASE}/automation`, { body: { enabled } });
const weights = async () =>
  Object.fromEntries(
    (await database.db.selectFrom('tracks').select(['name', 'weight']).execute()).map(({ name, weight }) => [
      name,
      weight,
    ]),
  );

/** What the regression guard has found just now. */
const regress = (kpi: string, magnitude = 'medium', regressed = true) =>
  sql`
    insert into kpi_snapshots (tenant_id, repo_id, kpi, day, computed_at, value, baseline_value, relative_delta, sample_size,
      baseline_sample_size, regressed, magnitude, direction)
    values (${bench.tenantId}, ${bench.repo.id}, ${kpi}, ${database.clock.now?.toISOString() ?? ''}::timestamptz::date,
      ${database.clock.now?.toISOString() ?? ''}::timestamptz, 0.4, 0.3, 0.33, 10, 40, ${regressed}, ${magnitude}, 'rise')
    on conflict (tenant_id, repo_id, kpi, day) do update set regressed = excluded.regressed`.execute(database.db);

const finding = (category: string, severity: 'low' | 'critical', status: 'open' | 'dismissed' = 'open') =>
  database.db
    .insertInto('findings')
    .values({
      tenant_id: bench.tenantId,
      id: randomUUID(),
      repo_id: bench.repo.id,
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
  for (const name of ['tests', 'docs']) await makeTrack(bench, name);
  await charter(envelope);
  await turn(true);
};

describe('one proposal in each ISO week', () => {
  test('over two months with a missed fortnight and many ticks', async () => {
    await ready();
    const weeks: string[] = [];
    for (let days = 0; days < 60; days += 0.5) {
      if (days > 20 && days < 35) continue;
      day(days);
      await regress('autonomy_rate');
      await tick();
      const week = isoWeek(new Date(START + days * DAY_MS));
      if (!weeks.includes(week)) weeks.push(week);
    }
    const made = await database.db.selectFrom('strategy_runs').select('iso_week').orderBy('id').execute();
    expect(made.map(({ iso_week }) => iso_week)).toEqual(weeks);
    expect(weeks.slice(0, 3)).toEqual(['2026-W52', '2026-W53', '2027-W01']);
    const { items } = await get<{ items: Snapshot[] }>('/snapshots?status=superseded');
    // Weights grow until four times normal; then there is nothing to change.
    expect(items.map(({ isoWeek: week }) => week).reverse()).toEqual(weeks.slice(0, items.length));
  });

  test('where many replicas look at the same moment', async () => {
    await ready();
    await regress('autonomy_rate');
    for (let week = 0; week < 8; week += 1) {
      day(week * 7);
      await regress('autonomy_rate');
      await Promise.all(Array.from({ length: 5 }, tick));
      const runs = await database.db.selectFrom('strategy_runs').select('outcome').execute();
      expect(runs).toHaveLength(week + 1);
      const made = await database.db.selectFrom('strategy_snapshots').select('iso_week').execute();
      expect(new Set(made.map(({ iso_week }) => iso_week)).size).toBe(made.length);
    }
  });

  test('turned off and on again within the week it waits for the next one', async () => {
    await ready();
    await regress('autonomy_rate');
    await tick();
    await turn(false);
    expect(await automation()).toMatchObject({ enabled: false, nextProposalAt: null, lastProposedIsoWeek: '2026-W52' });
    await turn(true);
    expect(await automation()).toMatchObject({ enabled: true, nextProposalAt: '2026-12-28T00:00:00.000Z' });
    await tick();
    expect(await database.db.selectFrom('strategy_runs').select('id').execute()).toHaveLength(1);
  });

  test('none where the cycle comes up again within a week that is done', async () => {
    await ready();
    await tick();
    await database.db
      .updateTable('strategy_automation')
      .set({ due_at: new Date(START).toISOString() })
      .execute();
    expect(await tick()).toEqual({ failures: [], more: false });
    expect(await database.db.selectFrom('strategy_runs').select('outcome').execute()).toEqual([
      { outcome: 'no_change' },
    ]);
    expect(await automation()).toMatchObject({ nextProposalAt: '2026-12-28T00:00:00.000Z' });
  });

  test.each([
    ['it is off', () => turn(false)],
    ['there is no charter', () => database.db.deleteFrom('strategy_charters').execute()],
    ['the repo is off', () => database.db.updateTable('repos').set({ enabled: false }).execute()],
  ])('none while %s', async (_what, stop) => {
    await ready();
    await regress('autonomy_rate');
    await stop();
    await tick();
    await database.db.updateTable('repos').set({ enabled: true }).execute();
    expect(await run()).toBeNull();
  });

  test('of several monitors one makes them, and another when that one is gone', async () => {
    const bells: Notifications[] = [];
    for (let replica = 0; replica < 2; replica += 1) bells.push(await connectedDoorbell(database.url));
    const [one, two] = bells.map((bell) => strategyTick(bench.engine, new Lead(bell, 'strategy'), silentLogger));
    await one?.();
    await ready();
    await two?.();
    expect(await run()).toBeNull();
    await bells[0]?.close();
    for (let round = 0; (await run()) === null && round < 100; round += 1) await two?.();
    expect(await run()).toMatchObject({ outcome: 'no_change' });
    await bells[1]?.close();
  });
});

describe('what a cycle makes', () => {
  test('what the charter lets pass is applied by itself, and explained', async () => {
    await ready();
    await regress('autonomy_rate');
    await finding('flaky tests', 'low');
    await tick();
    const made = await snapshot(1);
    expect(made).toMatchObject({
      status: 'active',
      source: 'weekly',
      isoWeek: '2026-W52',
      parentVersion: null,
      charterVersion: 1,
      proposedBy: 'strategy-automation',
      approvedBy: 'strategy-automation',
      approvedAt: new Date(START).toISOString(),
      activatedAt: new Date(START).toISOString(),
      costUsd: 0,
      intent: 'More work on docs, tests.',
      risk: { maxSize: 'small', withinEnvelope: true, violations: [], needsApproval: [] },
      evidence: [
        { kind: 'kpi', ref: 'kpi:autonomy_rate', summary: 'autonomy_rate is 0.4, was 0.3: a medium regression' },
      ],
    });
    expect(await weights()).toEqual({ tests: 1.5, docs: 1.5 });
    expect(await run()).toEqual({
      outcome: 'proposed',
      failureReason: null,
      costUsd: 0,
      nextDueAt: '2026-12-28T00:00:00.000Z',
      createdAt: new Date(START).toISOString(),
      consecutiveFailures: 0,
      isoWeek: '2026-W52',
      snapshotVersion: 1,
    });
    expect(await automation()).toMatchObject({
      nextProposalAt: '2026-12-28T00:00:00.000Z',
      lastProposedIsoWeek: '2026-W52',
    });
    const events = await database.db
      .selectFrom('pipeline_events')
      .select(['event_type', 'agent', 'payload'])
      .where('event_type', 'in', ['strategy_proposed', 'strategy_activated'])
      .orderBy('id', 'desc')
      .limit(2)
      .execute();
    expect(events).toEqual([
      { event_type: 'strategy_activated', agent: 'strategy-automation', payload: { version: 1 } },
      {
        event_type: 'strategy_proposed',
        agent: 'strategy-automation',
        payload: { version: 1, isoWeek: '2026-W52', applied: true },
      },
    ]);
  });

  const SLATE = [{ size: 'small' as const, count: 1 }];

  test('what is above max_auto_size waits for an operator, who may approve it', async () => {
    await ready();
    await makeTrack(bench, 'injection', { proposal: SLATE });
    await finding('injection', 'critical');
    await finding('docs', 'critical', 'dismissed');
    await tick();
    expect(await snapshot(1)).toMatchObject({
      status: 'proposed',
      risk: {
        maxSize: 'large',
        withinEnvelope: true,
        needsApproval: ['it asks for large work, above max_auto_size medium'],
      },
    });
    expect(await weights()).toEqual({ tests: 1, docs: 1, injection: 1 });
    expect((await call('POST', `${BASE}/snapshots/1/approve`)).status).toBe(200);
    expect(await weights()).toEqual({ tests: 1, docs: 1, injection: 1.5 });
    const { proposal } = await database.db
      .selectFrom('tracks')
      .select('proposal')
      .where('name', '=', 'injection')
      .executeTakeFirstOrThrow();
    expect(proposal).toEqual([...SLATE, { size: 'large', count: 1, theme: 'agent report: injection' }]);
  });

  test('counts only findings that an operator has accepted when agentKnowledge is approved', async () => {
    const { settings } = bench.engine;
    bench.engine.settings = () => ({
      ...settings(),
      retrieval: { ...settings().retrieval, agentKnowledge: 'approved' },
    });
    try {
      await ready();
      await makeTrack(bench, 'injection', { proposal: SLATE });
      await finding('injection', 'critical');
      await tick();
      expect(await weights()).toEqual({ tests: 1, docs: 1, injection: 1 });
      await database.db.updateTable('findings').set({ status: 'accepted' }).execute();
      day(7);
      await tick();
      expect(await snapshot(1)).toMatchObject({ status: 'proposed', isoWeek: '2026-W53' });
    } finally {
      bench.engine.settings = settings;
    }
  });

  test('what the charter escalates waits, also where it is small', async () => {
    await ready({ escalate_when: ['autonomy rate'] });
    await regress('autonomy_rate');
    await tick();
    expect(await snapshot(1)).toMatchObject({ status: 'proposed', activatedAt: null });
    expect(await weights()).toEqual({ tests: 1, docs: 1 });
  });

  test('a proposal that nobody has decided about gives way to the one of the next week', async () => {
    await ready({ escalate_when: ['tests'] });
    for (const days of [0, 7]) {
      day(days);
      await regress('autonomy_rate');
      await tick();
    }
    expect(await snapshot(1)).toMatchObject({ status: 'superseded', supersededBy: 2, approvedAt: null });
    expect(await snapshot(2)).toMatchObject({ status: 'proposed', parentVersion: null, isoWeek: '2026-W53' });
    expect((await call('POST', `${BASE}/snapshots/1/approve`)).status).toBe(422);
    expect((await call('POST', `${BASE}/snapshots/2/approve`)).status).toBe(200);
  });

  test('what is over is taken back, but not what an operator has set', async () => {
    await ready();
    await regress('autonomy_rate');
    await tick();
    await updateTrackAt(bench.engine, { ...at, name: 'docs' }, { weight: 3 }, { action: 'track-update', actor: OLGA });
    day(7);
    await tick();
    expect(await weights()).toEqual({ tests: 1, docs: 3 });
    expect(await snapshot(2)).toMatchObject({ status: 'active', parentVersion: 1, intent: 'Less on tests.' });
  });

  test('with nothing to change there is no snapshot; figures older than a week count for nothing', async () => {
    await regress('autonomy_rate');
    day(8);
    await ready();
    await tick();
    expect(await run()).toMatchObject({ outcome: 'no_change', snapshotVersion: null, failureReason: null });
    expect(await get('/snapshots')).toEqual({ items: [], snapshot: true });
  });

  test('without tracks it is skipped, and says why', async () => {
    await charter();
    await turn(true);
    await tick();
    expect(await run()).toMatchObject({ outcome: 'skipped', failureReason: 'the repo has no tracks' });
  });
});

describe('a cycle that fails', () => {
  test('leaves all as it was, says why, and is tried again later and later until it succeeds', async () => {
    await ready();
    await regress('autonomy_rate');
    await sql`alter table kpi_snapshots rename column magnitude to magnitude_gone`.execute(database.db);
    const { failures } = await tick();
    expect(failures).toMatchObject([{ key: { tenantId: bench.tenantId, repoId: bench.repo.id } }]);
    expect(await run()).toMatchObject({
      outcome: 'failed',
      failureReason: expect.stringContaining('magnitude'),
      costUsd: null,
      consecutiveFailures: 1,
      nextDueAt: new Date(START + 15 * 60_000).toISOString(),
    });
    expect(await automation()).toMatchObject({ nextProposalAt: new Date(START + 15 * 60_000).toISOString() });
    await tick();
    expect(await run()).toMatchObject({ consecutiveFailures: 1 });
    day(15 / (24 * 60));
    await tick();
    expect(await run()).toMatchObject({
      consecutiveFailures: 2,
      nextDueAt: new Date(START + 45 * 60_000).toISOString(),
    });
    await sql`alter table kpi_snapshots rename column magnitude_gone to magnitude`.execute(database.db);
    day(45 / (24 * 60));
    await tick();
    expect(await run()).toMatchObject({ outcome: 'proposed', consecutiveFailures: 0, isoWeek: '2026-W52' });
    expect(await weights()).toEqual({ tests: 1.5, docs: 1.5 });
  });

  test('is noted once where many replicas met it', async () => {
    await ready();
    await sql`alter table kpi_snapshots rename column magnitude to magnitude_gone`.execute(database.db);
    await Promise.all(Array.from({ length: 5 }, tick));
    await sql`alter table kpi_snapshots rename column magnitude_gone to magnitude`.execute(database.db);
    const runs = await database.db.selectFrom('strategy_runs').select(['outcome', 'consecutive_failures']).execute();
    expect(runs).toEqual([{ outcome: 'failed', consecutive_failures: 1 }]);
  });

  test('keeps no other repo from its turn', async () => {
    await ready();
    const other = await makeBench(database.store, 'acme/other');
    await call('PUT', '/api/strategy/acme/other/charter', { body: { goals: 'Better', envelope: ENVELOPE } });
    await setAutomation(bench.engine, { owner: 'acme', repo: 'other' }, true, OLGA);
    await sql`
      create function pipeline.refuse() returns trigger language plpgsql as $$
      begin if new.repo_id = ${sql.lit(bench.repo.id)} and new.outcome <> 'failed' then raise exception 'not this one'; end if;
      return new; end $$`.execute(database.db);
    await sql`create trigger refuse before insert on strategy_runs for each row execute function pipeline.refuse()`.execute(
      database.db,
    );
    await tick();
    await sql`drop function pipeline.refuse() cascade`.execute(database.db);
    expect(await run()).toMatchObject({ outcome: 'failed', failureReason: 'not this one' });
    const runs = await database.db
      .selectFrom('strategy_runs')
      .select('outcome')
      .where('repo_id', '=', other.repo.id)
      .execute();
    expect(runs).toEqual([{ outcome: 'skipped' }]);
  });
});
