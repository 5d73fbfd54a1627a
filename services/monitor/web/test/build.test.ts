/** Sizes of the build: the budgets that keep the dashboard fast on a slow machine and a slow line. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from '@jest/globals';

const BUILD = join(import.meta.dirname, '../scripts/build-main.ts');
const DIST = join(import.meta.dirname, '../dist');
const KB = 1_000;
const OVERVIEW = 'src/pages/overview/overview-page.tsx';

interface Chunk {
  file: string;
  css?: string[];
  imports?: string[];
}

let chunks: Record<string, Chunk> = {};

beforeAll(() => {
  execFileSync(process.execPath, ['--disable-warning=ExperimentalWarning', BUILD, '--if-stale']);
  chunks = JSON.parse(readFileSync(join(DIST, '.vite/manifest.json'), 'utf8'));
}, 120_000);

/** The files that the browser loads for these modules, with what they import statically. */
function filesOf(modules: readonly string[], seen = new Set<string>()): Set<string> {
  for (const name of modules) {
    const chunk = chunks[name];
    if (!chunk || seen.has(chunk.file)) continue;
    seen.add(chunk.file);
    for (const file of chunk.css ?? []) seen.add(file);
    filesOf(chunk.imports ?? [], seen);
  }
  return seen;
}

const sizeOf = (files: Iterable<string>, type: string): number =>
  [...files]
    .filter((file) => file.endsWith(type))
    .reduce((sum, file) => sum + gzipSync(readFileSync(join(DIST, file)), { level: 9 }).length, 0);

describe('the build', () => {
  test('loads at most 190 kB of compressed script for the overview', () => {
    const files = filesOf(['index.html', OVERVIEW]);
    expect(files.size).toBeGreaterThan(2);
    expect(sizeOf(files, '.js')).toBeLessThanOrEqual(190 * KB);
  });

  test('adds at most 60 kB of compressed script for any other page', () => {
    const pages = Object.keys(chunks).filter((name) => /^src\/pages\/.*-page\.tsx$/.test(name));
    const first = filesOf(['index.html']);
    const added = pages.map((name) => ({ name, size: sizeOf(filesOf([name]).difference(first), '.js') }));
    expect(added.filter(({ size }) => size > 60 * KB)).toEqual([]);
    expect(pages).toContain(OVERVIEW);
  });

  test('has at most 20 kB of compressed styles in all', () => {
    const styles = readdirSync(join(DIST, 'assets')).filter((file) => file.endsWith('.css'));
    expect(
      sizeOf(
        styles.map((file) => `assets/${file}`),
        '.css',
      ),
    ).toBeLessThanOrEqual(20 * KB);
  });

  test('has no inline script and no inline style in its page', () => {
    const page = readFileSync(join(DIST, 'index.html'), 'utf8');
    expect(page).not.toMatch(/<style|\sstyle=|<script(?![^>]*\ssrc=)/);
  });

  test('stores a smaller br and gz file beside each larger file', () => {
    const plain = readdirSync(join(DIST, 'assets')).filter((file) => /\.(js|css)$/.test(file));
    const large = plain.filter((file) => statSync(join(DIST, 'assets', file)).size > 10 * KB);
    for (const file of large) {
      const path = join(DIST, 'assets', file);
      expect(existsSync(`${path}.br`)).toBe(true);
      expect(statSync(`${path}.br`).size).toBeLessThan(statSync(`${path}.gz`).size);
      expect(statSync(`${path}.gz`).size).toBeLessThan(statSync(path).size);
    }
    expect(large.length).toBeGreaterThan(2);
  });
});
