import { describe, expect, test } from '@jest/globals';
import { expireIntelligence } from '@pipeline/engine';
import { sql } from 'kysely';
import { OLGA } from '../support/served-app.ts';
import { world } from './world.ts';

const UNKNOWN = '0198c5a4-7c1e-7000-8000-000000000001';

describe('moves', () => {
  test('lead where they should, and say who and why', async () => {
    const { id } = await world.learnOne({}, 3);
    await sql`delete from pipeline_events`.execute(world.database.db);
    expect((await world.move(id, 'approve', { reason: 'seen it' })).json).toMatchObject({
      ok: true,
      item: { id, status: 'approved', approvedBy: OLGA.username, approvedAt: expect.any(String), scopes: [{}] },
    });
    const other = await world.learnOne({ title: 'Refunds are booked once, by the ledger' });
    expect((await world.move(id, 'supersede', { supersededBy: other.id })).json).toMatchObject({
      item: { status: 'superseded', supersededBy: other.id },
    });
    expect((await world.move(other.id, 'dismiss', { reason: 'wrong' })).json).toMatchObject({
      item: { status: 'dismissed', dismissedReason: 'wrong', dismissedAt: expect.any(String) },
    });
    const { rows } = await sql<{ payload: object }>`
      select payload from pipeline_events where event_type = 'operator_action' order by id`.execute(world.database.db);
    expect(rows.map(({ payload }) => payload)).toEqual([
      { action: 'intelligence-approve', actorId: OLGA.username, reason: 'seen it', itemId: id },
      { action: 'intelligence-supersede', actorId: OLGA.username, reason: null, itemId: id, supersededBy: other.id },
      { action: 'intelligence-dismiss', actorId: OLGA.username, reason: 'wrong', itemId: other.id },
    ]);
  });

  test.each([
    ['candidate', ['approve', 'supersede']],
    ['observed', ['approve', 'supersede']],
    ['proposed', ['supersede']],
    ['approved', ['approve']],
    ['dismissed', ['approve', 'dismiss', 'supersede']],
    ['superseded', ['approve', 'dismiss', 'supersede']],
  ])('a %s item refuses the moves %j', async (status, names) => {
    const { id } = await world.learnOne();
    const other = await world.learnOne({ title: 'Other' });
    await world.stand(status, id);
    for (const name of names) {
      const answer = await world.move(id, name, { reason: 'x', supersededBy: other.id });
      expect([name, answer.status, answer.json]).toEqual([
        name,
        400,
        { error: expect.any(String), code: 'INVALID_TRANSITION', status: 400 },
      ]);
    }
  });

  test('need a reason to dismiss, and a fit successor', async () => {
    const { id } = await world.learnOne();
    await world.stand('approved');
    const dead = await world.learnOne({ title: 'Dead' });
    await world.stand('dismissed', dead.id);
    const codeOf = async (name: string, body?: object) =>
      (await world.move(id, name, body)).json as never as { code: string };
    expect((await codeOf('dismiss')).code).toBe('INVALID_ARGUMENT');
    expect((await codeOf('dismiss', { reason: ' ' })).code).toBe('INVALID_ARGUMENT');
    expect((await codeOf('supersede')).code).toBe('INVALID_BODY');
    expect((await codeOf('supersede', { supersededBy: 'x' })).code).toBe('INVALID_BODY');
    for (const supersededBy of [id, UNKNOWN, dead.id]) {
      expect((await codeOf('supersede', { supersededBy })).code).toBe('INVALID_INPUT');
    }
    for (const other of [UNKNOWN, 'x']) expect((await world.move(other, 'approve')).status).toBe(404);
    for (const other of [UNKNOWN, 'x'])
      expect((await world.call('GET', `/api/intelligence/${other}`)).status).toBe(404);
  });
});

test('an item that was neither seen nor given for 90 days is dismissed, and may return as a new one', async () => {
  world.database.clock.now = new Date('2026-01-01T00:00:00Z');
  await world.learn([{ title: 'Old' }, { title: 'Used' }, { title: 'Approved' }]);
  const idOf = async (title: string) => (await world.list()).items.find((item) => item.title === title)?.id ?? '';
  await world.stand('approved', await idOf('Approved'));
  await sql`update intelligence_items set last_used_at = '2026-03-01' where title = 'Used'`.execute(world.database.db);
  world.database.clock.now = new Date('2026-03-31T00:00:00Z');
  expect(await expireIntelligence(world.engine)).toEqual({ dismissed: 0, more: false });
  world.database.clock.now = new Date('2026-04-02T00:00:00Z');
  const old = await idOf('Old');
  expect(await expireIntelligence(world.engine)).toEqual({ dismissed: 1, more: false });
  expect(await world.detail(old)).toMatchObject({ status: 'dismissed', dismissedReason: 'stale' });
  expect(await expireIntelligence(world.engine)).toEqual({ dismissed: 0, more: false });
  await world.learn([{ title: 'Old' }]);
  expect((await world.list('&status=candidate')).items.map(({ title }) => title)).toContain('Old');
});
