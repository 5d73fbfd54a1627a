import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { settingsOf } from '@pipeline/domain';
import { parse } from 'yaml';
import { loadConfig } from '../../src/settings/config.ts';
import { database } from './database.ts';

describe('the example of a configuration', () => {
  const ROOT = join(import.meta.dirname, '../../../..');
  /** Every variable that a file may name. */
  const ALL_SET = new Proxy<Record<string, string>>({}, { get: () => 'set' });
  const EXAMPLE = join(ROOT, 'deploy/pipeline.example.yaml');

  interface Schema {
    properties?: Record<string, Schema>;
    additionalProperties?: Schema | false;
    items?: Schema;
    anyOf?: Schema[];
    oneOf?: Schema[];
  }

  /** Keys of the schema that the sample does not show, by their path. A list is shown by all of its entries together. */
  function missingFrom(schema: Schema, sample: unknown, path: string): string[] {
    if (Array.isArray(sample)) {
      const shown = sample.map((entry) => (schema.items ? missingFrom(schema.items, entry, `${path}[]`) : []));
      return [...new Set(shown.flat())].filter((key) => shown.every((keys) => keys.includes(key)));
    }
    const given = (sample ?? {}) as Record<string, unknown>;
    const keys = Object.entries(schema.properties ?? {});
    const known = keys.flatMap(([key, inner]) => {
      return key in given ? missingFrom(inner, given[key], `${path}.${key}`) : [`${path}.${key}`];
    });
    const other = schema.additionalProperties;
    const own = Object.entries(given).filter(([key]) => !(key in (schema.properties ?? {})));
    const inOthers = other ? own.flatMap(([key, value]) => missingFrom(other, value, `${path}.${key}`)) : [];
    const kinds = schema.oneOf ?? schema.anyOf ?? [];
    const ofKind = kinds.map((kind) => missingFrom(kind, sample, path)).toSorted((a, b) => a.length - b.length)[0];
    return [...known, ...inOthers, ...(ofKind ?? [])];
  }

  /** The file with all of its settings in force: a `#` that no blank and word follow hides a setting, not a comment. */
  const uncommented = async () => (await readFile(EXAMPLE, 'utf8')).replace(/^#(?! \S)/gm, '');

  test('the example asks for a login, and changes nothing else', async () => {
    const { config } = await loadConfig(EXAMPLE, ALL_SET);
    expect(config.agents.monitor?.auth).toEqual({ username: 'operator', passwordEnv: 'MONITOR_PASSWORD', logins: [] });
    expect(settingsOf(config)).toEqual(settingsOf((await loadConfig(undefined, {})).config));
    expect(config.repos).toEqual([]);
  });

  test('every setting that it hides is a good one', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'pipeline-example-'));
    try {
      await writeFile(join(folder, 'all.yaml'), await uncommented());
      const { config } = await loadConfig(join(folder, 'all.yaml'), ALL_SET);
      expect(config.repos).toHaveLength(1);
      expect(config.alertChannels).toHaveLength(3);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test('it names every key that there is, however deep', async () => {
    const schema = JSON.parse(await readFile(join(ROOT, 'docs/reference/pipeline-config.schema.json'), 'utf8'));
    expect(missingFrom(schema, parse(await uncommented()), 'config')).toEqual([]);
  });

  afterAll(() => database.clear());
});
