import { expect, test } from '@jest/globals';
import { revokeConnection } from '@pipeline/store';
import { authorizeUrl, connect, refresh } from './oauth-world.ts';
import { world } from './world.ts';

const { database } = world.hosting;

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const TABLES = ['oauth_tokens', 'oauth_artifacts', 'oauth_clients', 'oauth_connections', 'user_sessions'] as const;

const counts = async () => {
  const numbers = TABLES.map(async (table) => {
    const { n } = await database.db
      .selectFrom(table)
      .select((eb) => eb.fn.countAll<number>().as('n'))
      .executeTakeFirstOrThrow();
    return [table, n];
  });
  return Object.fromEntries(await Promise.all(numbers)) as Record<(typeof TABLES)[number], number>;
};

const pruneIn = async (ms: number) => {
  database.clock.now = new Date(Date.now() + ms);
  try {
    const { context } = world.hosting.api;
    await context.loops.find(({ name }) => name === 'oauth-pruning')?.tick();
  } finally {
    database.clock.now = null;
  }
};

test('deletes what can no longer be used, step by step, and nothing before its time', async () => {
  const used = await connect(world);
  await world.program();
  await world.browser().open(authorizeUrl(world, used.clientId));
  const second = await refresh(world, used.clientId, used.refresh);
  const before = await counts();
  expect(before).toEqual({
    oauth_tokens: 5,
    oauth_artifacts: 1,
    oauth_clients: 2,
    oauth_connections: 1,
    user_sessions: 1,
  });
  await pruneIn(0);
  expect(await counts()).toEqual(before);
  await pruneIn(11 * 60_000);
  // The code and both access tokens; the used refresh token stays, for its reuse must be noticed.
  expect(await counts()).toMatchObject({ oauth_tokens: 2, oauth_artifacts: 1, oauth_clients: 2 });
  await pruneIn(25 * HOUR);
  expect(await counts()).toEqual({
    oauth_tokens: 2,
    oauth_artifacts: 0,
    oauth_clients: 1,
    oauth_connections: 1,
    user_sessions: 0,
  });
  expect((await refresh(world, used.clientId, used.refresh)).error).toBe('invalid_grant');
  expect((await refresh(world, used.clientId, second.refresh)).error).toBe('invalid_grant');
  await pruneIn(89 * DAY);
  expect((await counts()).oauth_connections).toBe(1);
  await pruneIn(91 * DAY);
  expect(await counts()).toMatchObject({ oauth_tokens: 0, oauth_connections: 0, oauth_clients: 0 });
});

test('two replicas prune at the same time', async () => {
  const { clientId } = await connect(world);
  const { id } = await database.db
    .selectFrom('oauth_connections')
    .select('id')
    .where('client_id', '=', clientId)
    .executeTakeFirstOrThrow();
  await revokeConnection(database.store.db, id, 'operator');
  await Promise.all([pruneIn(400 * DAY), pruneIn(400 * DAY)]);
  expect((await counts()).oauth_connections).toBe(0);
});
