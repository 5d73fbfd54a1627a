import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { testDatabase } from '@pipeline/testing';
import pg from 'pg';
import { rowTypes } from '../../scripts/row-types.ts';

const database = testDatabase();

async function connected<T>(use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(database.adminUrl);
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

test('database.generated.ts matches the migrations (else: node libs/store/scripts/generate-types.ts)', async () => {
  const file = join(import.meta.dirname, '../../src/driver/database.generated.ts');
  expect(await readFile(file, 'utf8')).toBe(await connected(rowTypes));
});

test('refuses a column with an unmapped type', async () => {
  await connected(async (client) => {
    await client.query('begin');
    await client.query('alter table pipeline.issues add column place point');
    await expect(rowTypes(client)).rejects.toThrow('issues.place has type point');
    await client.query('rollback');
    await client.query('begin');
    await client.query('alter table pipeline.issues rename column state to stage');
    await expect(rowTypes(client)).rejects.toThrow('no table has: issues.state');
    await client.query('rollback');
  });
});
