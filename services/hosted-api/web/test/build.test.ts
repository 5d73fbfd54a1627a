/** Sizes of the build: the budgets that keep the customers' pages fast on a slow machine and a slow line. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { BuildSizes } from '@pipeline/web/build/build-sizes.ts';

const BUILD = join(import.meta.dirname, '../scripts/build-main.ts');
const DIST = join(import.meta.dirname, '../dist');
const KB = 1_000;
const OVERVIEW = 'src/pages/overview-page.tsx';

let build: BuildSizes;
beforeAll(() => {
  execFileSync(process.execPath, ['--disable-warning=ExperimentalWarning', BUILD, '--if-stale']);
  build = new BuildSizes(DIST);
}, 120_000);

describe('the build', () => {
  test('loads at most 190 kB of compressed script for the overview', () => {
    expect(build.firstScript(OVERVIEW)).toBeGreaterThan(50 * KB);
    expect(build.firstScript(OVERVIEW)).toBeLessThanOrEqual(190 * KB);
  });

  test('adds at most 60 kB of compressed script for any other page', () => {
    const added = build.pages.map((name) => ({ name, size: build.addedScript(name) }));
    expect(added.filter(({ size }) => size > 60 * KB)).toEqual([]);
    expect(build.pages).toContain(OVERVIEW);
  });

  test('has at most 20 kB of compressed styles in all', () => {
    expect(build.styles).toBeGreaterThan(0);
    expect(build.styles).toBeLessThanOrEqual(20 * KB);
  });

  test('has no inline script and no inline style in its page', () => {
    const page = readFileSync(join(DIST, 'index.html'), 'utf8');
    expect(page).not.toMatch(/<style|\sstyle=|<script(?![^>]*\ssrc=)/);
  });

  test('stores a smaller br and gz file beside each larger file', () => {
    expect(build.badlyCompressed).toEqual([]);
    expect(build.large.length).toBeGreaterThan(2);
  });
});
