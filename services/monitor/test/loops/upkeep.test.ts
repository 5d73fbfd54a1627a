import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { DEFAULT_SETTINGS } from '@pipeline/domain';
import { enqueueDueScans, Leader } from '@pipeline/engine';
import { silentLogger } from '@pipeline/runtime';
import { insertCostEvents, inTransaction, type Notifications, writeSettings } from '@pipeline/store';
import { testDatabase } from '@pipeline/testing';
import { sql } from 'kysely';
import { runRetention } from '../../src/loops/retention.ts';
import { enforceCurrentBudgets } from '../../src/loops/upkeep.ts';
import { admit, makeBench } from '../support/bench.ts';
import { connectedDoorbell } from '../support/sandbox-world.ts';
import { serveConnected } from '../support/served-app.ts';

const database = testDatabase();

describe('retention', () => {
  test('drops the months of messages and of events each after the days of its own setting', async () => {
    const { engine } = await makeBench(database.store, 'acme/shop');
    const retention = { ...DEFAULT_SETTINGS.retention, messagesDays: 30, eventsDays: 365 };
    engine.settings = () => ({ ...DEFAULT_SETTINGS, retention });
    const partitions = async (table: string) => {
      const { rows } = await sql<{
        n: string;
      }>`select count(*) n from pg_inherits where inhparent = ${table}::regclass`.execute(database.db);
      return Number(rows[0]?.n);
    };
    const tick = () => runRetention(engine, silentLogger, new AbortController().signal);
    await tick();
    const before = [await partitions('agent_messages'), await partitions('pipeline_events')];
    database.clock.now = new Date(Date.now() + 120 * 86_400_000);
    await tick();
    database.clock.now = null;
    const after = [await partitions('agent_messages'), await partitions('pipeline_events')];
    expect(after[0]).toBeLessThan(after[1] ?? 0);
    expect(before[0]).toBe(before[1]);
  });

  test('a table that cannot be cleaned does not keep the others from it, and fails the round', async () => {
    const { engine } = await makeBench(database.store, 'acme/shop');
    await sql`insert into webhook_deliveries (delivery_id, event, lane, events, received_at, processed_at)
    values ('old', 'issues', '', '[]', svc_now() - interval '9 days', svc_now() - interval '8 days')`.execute(
      database.db,
    );
    await sql`alter table alerts rename to alerts_away`.execute(database.db);
    const tick = runRetention(engine, silentLogger, new AbortController().signal);
    await expect(tick).rejects.toMatchObject({
      message: expect.stringContaining('retention: 1 of '),
      errors: [expect.objectContaining({ message: 'failed for {"of":"alerts"}' })],
    });
    await sql`alter table alerts_away rename to alerts`.execute(database.db);
    expect(await database.db.selectFrom('webhook_deliveries').select('delivery_id').execute()).toEqual([]);
  });

  afterAll(() => database.clear());
});

describe('budgets', () => {
  test('the limits that were written for all hold and release, not those of this process; a retry changes nothing', async () => {
    const bench = await makeBench(database.store, 'acme/shop');
    await admit(bench, 1);
    await inTransaction(database.store.db, (tx) =>
      insertCostEvents(
        tx,
        { tenantId: bench.tenantId, runId: 1, repoId: bench.repo.id, issueId: null, agent: 'developer' },
        [{ index: 0, model: 'large', usd: 5 }],
      ),
    );
    const tick = () => enforceCurrentBudgets(bench.engine);
    const held = async () => (await database.db.selectFrom('tasks').select('held').executeTakeFirst())?.held;
    await tick();
    expect(await held()).toBeNull();
    await writeSettings(database.store.db, { costLimits: { dailyUsd: 5 } });
    await tick();
    expect(await held()).toBe('budget');

    const costLimits = { dailyUsd: 5, monthlyUsd: null, perIssueUsd: null };
    bench.engine.settings = () => ({ ...DEFAULT_SETTINGS, costLimits });
    const { call, close } = await serveConnected({ engine: bench.engine });
    expect((await call('POST', '/api/issues/acme/shop/1/retry')).status).toBe(200);
    await close();
    expect(await held()).toBe('budget');

    await writeSettings(database.store.db, { costLimits: { dailyUsd: 6 } });
    await tick();
    expect(await held()).toBeNull();
  });

  afterAll(() => database.clear());
});

describe('scans of the code map', () => {
  const bells: Notifications[] = [];

  beforeEach(async () => {
    for (let replica = 0; replica < 2; replica += 1) bells.push(await connectedDoorbell(database.url));
  });
  afterEach(async () => {
    for (const bell of bells.splice(0)) await bell.close();
  });

  const scans = () => database.db.selectFrom('tasks').select(['repo_id', 'task_type', 'status']).execute();

  test('one of several monitors enqueues the scans, and another when that one is gone', async () => {
    const first = await makeBench(database.store, 'acme/shop');
    const [one, two] = bells.map((bell) => {
      const lead = new Leader(bell);
      return () => lead.run(first.engine, enqueueDueScans);
    });
    await one?.();
    expect(await scans()).toEqual([{ repo_id: first.repo.id, task_type: 'code-map-scan', status: 'pending' }]);
    const second = await makeBench(database.store, 'acme/other');
    await two?.();
    expect(await scans()).toHaveLength(1);
    await bells[0]?.close();
    for (let round = 0; (await scans()).length < 2 && round < 100; round += 1) await two?.();
    expect((await scans()).map((row) => row.repo_id)).toEqual([first.repo.id, second.repo.id]);
  });

  afterAll(() => database.clear());
});
