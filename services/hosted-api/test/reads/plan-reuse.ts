import { expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { mintConnection } from '../support/connections.ts';
import { addRepo, labelIssue, makeTenant } from '../support/hosted.ts';
import { hosting } from './hosting.ts';
import { readOk } from './readers.ts';

/** The server compares five plans for the given values with one for any values, and then keeps the cheaper kind. */
const CUSTOM_AT_FIRST = 5;

test('no statement of a read is planned again for each request', async () => {
  // Another API, so that everything runs on one connection, whose plans are looked at.
  const store = hosting.open({ poolSize: 1 });
  const hosted = await hosting.start({ store });
  const tenant = await makeTenant(hosted, 'acme/shop');
  const hidden = await addRepo(hosted, tenant.id, 'acme/hidden');
  for (let number = 1; number <= 20; number += 1) await labelIssue(hosted, tenant.repo, number);
  await labelIssue(hosted, hidden, 1);
  const reach = { tenantId: tenant.id, repoIds: [tenant.repo.id] };
  const owner = await mintConnection(hosting.database.owner, { tenantId: tenant.id, role: 'owner' });
  const member = await mintConnection(hosting.database.owner, reach);
  await sql`analyze`.execute(store.db);
  for (const { token } of [owner, member]) {
    for (let round = 0; round < 12; round += 1) {
      await readOk(hosted, '/api/cli/bootstrap', token);
      await readOk(hosted, '/api/cli/issues?repo=acme/shop&limit=50', token);
      await readOk(hosted, '/api/cli/issues/1/why?repo=acme/shop', token);
      await readOk(hosted, '/api/cli/pipeline/overview?repo=acme/shop', token);
    }
  }
  const { rows } = await sql<{ name: string; custom: number; generic: number }>`
    select name, custom_plans as custom, generic_plans as generic from pg_prepared_statements`.execute(store.db);
  const often = rows.filter(({ custom, generic }) => custom + generic > 2 * CUSTOM_AT_FIRST);
  expect(often.map(({ name }) => name)).toContain('connections-by-access-tokens');
  expect(often.filter(({ custom }) => custom > CUSTOM_AT_FIRST)).toEqual([]);
});
