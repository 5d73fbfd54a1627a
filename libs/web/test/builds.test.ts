/** Sizes of both builds: the budgets that keep the pages fast on a slow machine and a slow line. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { BuildSizes } from './build-sizes.ts';

const SERVICES = join(import.meta.dirname, '../../../services');
const KB = 1_000;

describe.each([
  ['dashboard', 'monitor/web', ['src/charts/stacked-area.tsx'], 'src/pages/issues/issues-page.tsx'],
  ['customers’ pages', 'hosted-api/web', [], 'src/pages/issues-page.tsx'],
])('the build of the %s', (_what, folder, later, otherPage) => {
  const dist = join(SERVICES, folder, 'dist');
  let build: BuildSizes;
  beforeAll(() => {
    const program = join(SERVICES, folder, 'scripts/build-main.ts');
    execFileSync(process.execPath, ['--disable-warning=ExperimentalWarning', program, '--if-stale']);
    build = new BuildSizes(dist);
  });

  test('loads at most 190 kB of compressed script for the overview', () => {
    expect(build.firstScript(later)).toBeGreaterThan(50 * KB);
    expect(build.firstScript(later)).toBeLessThanOrEqual(190 * KB);
  });

  test('loads one script and one file of styles before it shows the overview', () => {
    expect(build.firstFiles.map((file) => file.split('.').at(-1)).sort()).toEqual(['css', 'js']);
  });

  test('adds at most 60 kB of compressed script for any other page', () => {
    const added = build.pages.map((name) => ({ name, size: build.addedScript(name) }));
    expect(added.filter(({ size }) => size > 60 * KB)).toEqual([]);
    expect(build.pages).toContain(otherPage);
  });

  test('all compressed styles have at most 20 kB', () => {
    expect(build.styles).toBeGreaterThan(0);
    expect(build.styles).toBeLessThanOrEqual(20 * KB);
  });

  test('the page has no inline script and no inline style', () => {
    const page = readFileSync(join(dist, 'index.html'), 'utf8');
    expect(page).not.toMatch(/<style|\sstyle=|<script(?![^>]*\ssrc=)/);
  });

  test('stores a smaller br and gz file beside each larger file', () => {
    expect(build.badlyCompressed).toEqual([]);
    expect(build.large.length).toBeGreaterThan(2);
  });
});
