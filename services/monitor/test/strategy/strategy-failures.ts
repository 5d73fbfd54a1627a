import { afterAll, describe, expect, test } from '@jest/globals';
import { setAutomation } from '@pipeline/engine';
import { sql } from 'kysely';
import { makeBench } from '../support/bench.ts';
import { OLGA, START, testStrategyCycle } from './cycle-world.ts';
import { database } from './database.ts';
import { ENVELOPE } from './strategy-world.ts';

describe('failures of a cycle', () => {
  const { env, day, run, automation, tick, weights, regress, ready } = testStrategyCycle(database);

  describe('a cycle that fails', () => {
    test('leaves all as it was, records why, and is retried later and later until it succeeds', async () => {
      await ready();
      await regress('autonomy_rate');
      await sql`alter table kpi_snapshots rename column magnitude to magnitude_gone`.execute(database.db);
      const { failures } = await tick();
      expect(failures).toMatchObject([{ key: { tenantId: env.bench.tenantId, repoId: env.bench.repo.id } }]);
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

    test('records a failure once where many replicas met it', async () => {
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
      await env.call('PUT', '/api/strategy/acme/other/charter', { body: { goals: 'Better', envelope: ENVELOPE } });
      await setAutomation(env.bench.engine, { owner: 'acme', repo: 'other' }, true, OLGA);
      await sql`
      create function pipeline.refuse() returns trigger language plpgsql as $$
      begin if new.repo_id = ${sql.lit(env.bench.repo.id)} and new.outcome <> 'failed' then raise exception 'not this one'; end if;
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

  afterAll(() => database.clear());
});
