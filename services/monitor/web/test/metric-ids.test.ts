import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { METRIC_REGISTRY } from '@pipeline/domain';

const SOURCE = join(import.meta.dirname, '../src');

test('the tips of panels name metrics of the registry', () => {
  const known = new Set<string>(METRIC_REGISTRY.map(({ id }) => id));
  const pages = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.tsx'));
  const named = pages.flatMap((path) => {
    const lists = readFileSync(join(SOURCE, path), 'utf8').matchAll(/metrics=\{\[([^\]]*)\]\}/g);
    return [...lists].flatMap(([, list = '']) => [...list.matchAll(/'([^']*)'/g)].map(([, id = '']) => ({ path, id })));
  });
  expect(named.length).toBeGreaterThan(30);
  expect(named.filter(({ id }) => !known.has(id))).toEqual([]);
});
