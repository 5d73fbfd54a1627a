import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { settingsOf } from '@pipeline/domain';
import { parse } from 'yaml';
import { loadConfig } from '../src/config.ts';

const ROOT = join(import.meta.dirname, '../../..');
const EXAMPLE = join(ROOT, 'deploy/pipeline.example.yaml');

interface Schema {
  properties?: Record<string, unknown>;
  items?: Schema;
}

/** The file with all of its settings in force: a `#` that no blank and word follow hides a setting, not a remark. */
const uncommented = async () => (await readFile(EXAMPLE, 'utf8')).replace(/^#(?! \S)/gm, '');

test('the example asks for a login, and changes nothing else', async () => {
  const { config } = await loadConfig(EXAMPLE);
  expect(config.agents.monitor?.auth).toEqual({ username: 'operator', passwordEnv: 'MONITOR_PASSWORD' });
  expect(settingsOf(config)).toEqual(settingsOf((await loadConfig(undefined)).config));
  expect(config.repos).toEqual([]);
});

test('every setting that it hides is a good one', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'pipeline-example-'));
  try {
    await writeFile(join(folder, 'all.yaml'), await uncommented());
    const { config } = await loadConfig(join(folder, 'all.yaml'));
    expect(config.repos).toHaveLength(1);
    expect(config.alertChannels).toHaveLength(3);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('it names every key that there is', async () => {
  const { properties } = JSON.parse(await readFile(join(ROOT, 'docs/reference/pipeline-config.schema.json'), 'utf8'));
  const shown = parse(await uncommented());
  for (const [section, { properties: keys, items }] of Object.entries<Schema>(properties)) {
    const [sample] = [shown[section] ?? {}].flat();
    expect({ section, keys: Object.keys(sample) }).toEqual({
      section,
      keys: expect.arrayContaining(Object.keys(keys ?? items?.properties ?? {})),
    });
  }
});
