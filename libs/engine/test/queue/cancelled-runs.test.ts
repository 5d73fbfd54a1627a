import { beforeEach, describe, expect, test } from '@jest/globals';
import { actOnIssue, heartbeat } from '@pipeline/engine';
import { deleteOldRuns, endedRuns, utilization } from '@pipeline/store';
import { take } from '../harness.ts';
import { OLGA, Stage } from '../stage.ts';

const bench = new Stage();
const DAY = 24 * 60 * 60;

const runs = () =>
  bench.database.db
    .selectFrom('runs')
    .select(['agent', 'status', 'finished_at'])
    .where('tenant_id', '=', bench.tenantId)
    .execute();

describe('the run of a task that is cancelled 10 s after its claim', () => {
  beforeEach(async () => {
    await heartbeat(bench.engine, { tenantId: bench.tenantId, workerId: bench.workerId, status: 'idle', tasks: [] });
    await take(bench);
    bench.pass(10);
    await actOnIssue(bench.engine, await bench.key(), 'cancel', OLGA);
  });

  test('ends, so that retention deletes it', async () => {
    expect(await runs()).toMatchObject([{ status: 'cancelled', finished_at: '2026-03-01T00:00:10.000Z' }]);
    bench.pass(91 * DAY);
    while (await deleteOldRuns(bench.engine.store.db, 90));
    expect(await runs()).toEqual([]);
  });

  test('keeps its worker busy until its lease ends, because the worker may still be at it', async () => {
    bench.pass(30);
    const busy = (await utilization(bench.engine.store.db, DAY * 1_000)).filter(
      (row) => row.worker_id === bench.workerId,
    );
    expect(busy).toMatchObject([{ busy_ms: 40_000 }]);
  });

  test('the run is no sample of how long runs take', async () => {
    bench.pass(60);
    const agents = (await runs()).map(({ agent }) => agent);
    const window = { from: '2026-03-01T00:00:00Z', to: '2026-03-01T00:01:00Z', agents };
    expect(await endedRuns(bench.engine.store.db, window)).toEqual([]);
  });
});
