import { expect, test } from '@jest/globals';
import { silentLogger } from '@pipeline/runtime';
import { testDatabase } from '@pipeline/testing';
import { sql } from 'kysely';
import { runRetention } from '../../src/loops/retention.ts';
import { makeBench } from '../support/bench.ts';

const database = testDatabase();

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
