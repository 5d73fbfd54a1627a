import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { STATES } from '@pipeline/domain';
import { fingerprintOf0014 } from '../../src/schema/migrations/0001-0020/0014-fingerprint.ts';
import { STATES_OF_0016 } from '../../src/schema/migrations/0001-0020/0016-rollups.ts';
import { MIGRATIONS } from '../../src/schema/migrations/index.ts';

const FOLDER = join(import.meta.dirname, '../../src/schema/migrations');

async function migrationFiles(): Promise<string[]> {
  const entries = await readdir(FOLDER, { recursive: true });
  return entries.filter((name) => name.endsWith('.ts') && name !== 'index.ts');
}

test('imports only Kysely, Node and files of its own folder in every migration', async () => {
  const files = await migrationFiles();
  expect(files.length).toBeGreaterThanOrEqual(Object.keys(MIGRATIONS).length);
  for (const file of files) {
    const text = await readFile(join(FOLDER, file), 'utf8');
    const specifiers = [...text.matchAll(/\bfrom '([^']+)'/g)].map((match) => match[1] ?? '');
    const live = specifiers.filter((name) => !/^(kysely|node:[a-z/]+|\.\/\d{4}-[a-z-]+\.ts)$/.test(name));
    expect({ file, live }).toEqual({ file, live: [] });
  }
});

test('keeps the fingerprints that migration 0014 stored', () => {
  // sha256("boom <n>") begins with these digits.
  expect(fingerprintOf0014('boom 7')).toBe('647c10db34e863b3');
  expect(fingerprintOf0014('cannot open /srv/data/a.json:12:3')).toBe(fingerprintOf0014('cannot open /b.json:1:2'));
});

test('keeps the bit of each state that migration 0016 stored', () => {
  expect(STATES.slice(0, STATES_OF_0016.length)).toEqual(STATES_OF_0016);
});
