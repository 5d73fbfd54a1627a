import { afterAll, describe, expect, test } from '@jest/globals';
import { DAY_MS, isoWeek } from '@pipeline/domain';
import { Leader } from '@pipeline/engine';
import { silentLogger } from '@pipeline/runtime';
import type { Notifications } from '@pipeline/store';
import { runStrategies } from '../../src/loops/upkeep.ts';
import { connectedDoorbell } from '../support/sandbox-world.ts';
import { START, testStrategyCycle } from './cycle-world.ts';
import { database } from './database.ts';
import type { Snapshot } from './strategy-world.ts';

describe('weeks of a strategy', () => {
  const { env, day, get, run, automation, tick, turn, regress, ready } = testStrategyCycle(database);

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

    test('makes one proposal where many replicas act at the same moment', async () => {
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
      expect(await automation()).toMatchObject({
        enabled: false,
        nextProposalAt: null,
        lastProposedIsoWeek: '2026-W52',
      });
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

    test('one of several monitors makes the proposals, and another when that one is gone', async () => {
      const bells: Notifications[] = [];
      for (let replica = 0; replica < 2; replica += 1) bells.push(await connectedDoorbell(database.url));
      const [one, two] = bells.map((bell) => {
        const lead = new Leader(bell);
        return () => lead.run(env.bench.engine, (leading) => runStrategies(leading, silentLogger));
      });
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

  afterAll(() => database.clear());
});
