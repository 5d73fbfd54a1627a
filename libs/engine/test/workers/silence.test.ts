import { describe, expect, test } from '@jest/globals';
import { watchSilence } from '@pipeline/engine';
import { degradedSeconds, deleteOldPeriods } from '@pipeline/store';
import { iso, WorkerStage } from './worker-stage.ts';

const bench = new WorkerStage();
const { database } = bench;

describe('silence', () => {
  test('silence of 30 s makes a worker offline; its periods change at that time, not at detection', async () => {
    bench.at(10);
    await bench.beat();
    bench.at(39);
    expect(await watchSilence(bench.engine)).toBe(0);
    bench.at(45);
    expect(await watchSilence(bench.engine)).toBe(1);
    expect(await watchSilence(bench.engine)).toBe(0);
    expect(await bench.statuses()).toEqual(['offline']);
    expect(await bench.periods()).toEqual([
      { kind: 'online', started_at: iso(0), ended_at: iso(10) },
      { kind: 'silent', started_at: iso(40), ended_at: null },
    ]);
    bench.at(60);
    await bench.beat();
    expect(await bench.statuses()).toEqual(['offline', 'idle']);
    expect((await bench.periods()).slice(1)).toEqual([
      { kind: 'silent', started_at: iso(40), ended_at: iso(60) },
      { kind: 'online', started_at: iso(60), ended_at: null },
    ]);
  });

  test('silence of a day counts as leaving', async () => {
    bench.at(100);
    await watchSilence(bench.engine);
    bench.at(86_399);
    expect(await watchSilence(bench.engine)).toBe(0);
    bench.at(86_402);
    const [one, two] = await Promise.all([watchSilence(bench.engine), watchSilence(bench.engine)]);
    expect(one + two).toBe(1);
    expect(await bench.worker()).toMatchObject({ left_at: iso(86_402) });
    expect((await bench.periods()).every(({ ended_at }) => ended_at !== null)).toBe(true);
    expect(await bench.statuses()).toEqual(['offline']);
  });

  test('silence after leaving has no effect', async () => {
    bench.at(5);
    await bench.beat('leaving');
    bench.at(500);
    expect(await watchSilence(bench.engine)).toBe(0);
    expect(await bench.periods()).toEqual([{ kind: 'online', started_at: iso(0), ended_at: iso(5) }]);
  });

  test('detected by two concurrent checks is reported once', async () => {
    bench.at(100);
    await Promise.all([watchSilence(bench.engine), watchSilence(bench.engine)]);
    expect(await bench.statuses()).toEqual(['offline']);
  });

  test('a worker that left and came back at the same instant has one period', async () => {
    await bench.beat('leaving');
    await bench.again();
    expect(await bench.periods()).toEqual([{ kind: 'online', started_at: iso(0), ended_at: null }]);
  });
});

describe('degraded time', () => {
  const period = (workerId: string, kind: 'online' | 'silent' | 'stalled', from: number, to: number | null) =>
    database.db
      .insertInto('worker_periods')
      .values({
        tenant_id: bench.tenantId,
        worker_id: workerId,
        kind,
        started_at: iso(from),
        ended_at: to === null ? null : iso(to),
      })
      .execute();

  test('degraded time is that of at least one worker, at most an hour for each period, from the given time', async () => {
    await database.db.deleteFrom('worker_periods').execute();
    const other = await bench.again('w2');
    await period(bench.workerId, 'silent', 0, 100);
    await period(other, 'stalled', 50, 150);
    await period(other, 'silent', 1_000, null);
    await period(bench.workerId, 'online', 5_000, 9_000);
    bench.at(20_000);
    expect(await degradedSeconds(database.store.db, iso(20))).toBe(130 + 3_600);
    expect(await degradedSeconds(database.store.db, iso(4_000))).toBe(600);
    bench.at(2_000);
    expect(await degradedSeconds(database.store.db, iso(20))).toBe(130 + 1_000);
  });

  test('deletes periods after the retention time, running ones not', async () => {
    await database.db.deleteFrom('worker_periods').execute();
    await period(bench.workerId, 'silent', 0, 100);
    await period(bench.workerId, 'online', 100, null);
    bench.at(1_000);
    const kinds = async () => (await bench.periods()).map(({ kind }) => kind);
    await deleteOldPeriods(database.store.db, 900_001);
    expect(await kinds()).toEqual(['silent', 'online']);
    expect(await deleteOldPeriods(database.store.db, 899_000)).toBe(false);
    expect(await kinds()).toEqual(['online']);
  });
});
