/**
 * Writes src/driver/database.generated.ts from a freshly migrated database; with `--check` it only compares, and exits 1
 * on drift. Row types are generated, never written by hand, so that they cannot differ from the migrations.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startTestServer } from '@pipeline/testing/server';
import { databaseUrl, ensureTemplate } from '@pipeline/testing/template';
import pg from 'pg';
import { rowTypes } from './row-types.ts';

const file = join(import.meta.dirname, '../src/driver/database.generated.ts');
const check = process.argv.includes('--check');

const server = await startTestServer(process.env);
try {
  const client = new pg.Client(databaseUrl(server.url, await ensureTemplate(server.url)));
  await client.connect();
  const wanted = await rowTypes(client);
  await client.end();
  const current = await readFile(file, 'utf8').catch(() => '');
  if (check && current !== wanted) {
    process.stderr.write('row types differ from the migrations: run node libs/store/scripts/generate-types.ts\n');
    process.exitCode = 1;
  } else if (!check) {
    await writeFile(file, wanted);
  }
} finally {
  await server.stop();
}
