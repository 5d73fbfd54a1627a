import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import {
  COUNTS_FILE,
  countsOf,
  findingsIn,
  formatCounts,
  packageOf,
  readCounts,
  repositoryFindings,
  risenCounts,
  risenTotals,
  TERMS,
} from './language.ts';
import { ROOT, repositoryFiles } from './workspace.ts';

const wordsIn = (text: string): string[] => findingsIn('libs/store/src/a.ts', text).map(({ word }) => word);

describe('this repository', () => {
  const findings = repositoryFindings();

  test('does not exceed the recorded counts', () => {
    expect(risenCounts(findings, readCounts())).toEqual([]);
  });

  test('records counts of known words only, sorted', () => {
    expect(Object.keys(readCounts()).filter((word) => !(word in TERMS))).toEqual([]);
    expect(readFileSync(COUNTS_FILE, 'utf8')).toBe(formatCounts(readCounts()));
  });
});

describe('findings', () => {
  test.each([
    ['anew', '// reads the row anew'],
    ['whoever', 'Whoever waits, retries.'],
    ['told', "test('is told twice', () => {});"],
    ['under way', ' * while a write is under\n * way, it waits'],
    ['letter', '/** Retries the letters of a repo. */'],
    ['ring', 'doorbells are notifications; a ring is one'],
    ['mend', 'const mended = 1;'],
  ])('include %s', (word, text) => {
    expect(wordsIn(text)).toContain(word);
  });

  test.each([
    ['the standard term', '/** Retries the dead letters, dead-letter by dead-letter. */'],
    ['letters of the alphabet', 'an id is lower-case letters and digits'],
    ['parts of longer words', 'stringing, retold, amendment, anewer, recommend, tellurium, dead-letters.ts'],
    ['parts of a name', 'const ringsPerSecond = wasTold + doorbellName'],
  ])('exclude %s', (_, text) => {
    expect(wordsIn(text)).toEqual([]);
  });

  test('have the path, the line and its text', () => {
    expect(findingsIn('docs/a.md', 'first\n  read anew\nlast')).toEqual([
      { word: 'anew', path: 'docs/a.md', line: 2, text: 'read anew' },
    ]);
  });

  test('exclude texts that the interface fixes', () => {
    expect(findingsIn('docs/a.md', 'Answer: told again.\nOne told.', ['told again']).map(({ line }) => line)).toEqual([
      2,
    ]);
  });
});

describe('counts', () => {
  const findings = findingsIn('libs/store/src/a.ts', 'anew anew\ntold');

  test('are kept per word and package', () => {
    expect(countsOf(findings)).toEqual({ anew: { 'libs/store': 2 }, told: { 'libs/store': 1 } });
    expect(['README.md', 'docs/x/a.md', 'services/monitor/src/a.ts'].map(packageOf)).toEqual([
      '.',
      'docs',
      'services/monitor',
    ]);
  });

  test('are accepted when they fall or stay', () => {
    expect(risenCounts(findings, { anew: { 'libs/store': 5 }, told: { 'libs/store': 1 } })).toEqual([]);
  });

  test('are reported with place and replacement when they rise', () => {
    expect(risenCounts(findings, { anew: { 'libs/store': 1 }, told: { 'libs/engine': 9 } })).toEqual([
      [
        '"anew" may occur 1 times, occurs 2 times in libs/store; write: again, retry',
        '    libs/store/src/a.ts:1: anew anew',
        '    libs/store/src/a.ts:1: anew anew',
      ].join('\n'),
      ['"told" is forbidden in libs/store; write: reported, notified, known', '    libs/store/src/a.ts:2: told'].join(
        '\n',
      ),
    ]);
  });

  test('may move between packages, but a total may not rise', () => {
    expect(risenTotals(countsOf(findings), { anew: { docs: 2 }, told: { docs: 1 } })).toEqual([]);
    expect(risenTotals(countsOf(findings), { anew: { docs: 1 }, told: { docs: 1 } })).toEqual(['anew']);
  });
});

const decisions = repositoryFiles().filter((path) => /^docs\/decisions\/\d{4}-/.test(path));

describe.each(decisions)('%s', (path) => {
  const text = readFileSync(join(ROOT, path), 'utf8');

  test('is named after its title', () => {
    const [, number, title = ''] = /^# (\d{4}): (.+)/.exec(text) ?? [];
    const slug = title
      .toLowerCase()
      .replaceAll(/['’`]/g, '')
      .replaceAll(/[^a-z0-9]+/g, '-');
    expect(basename(path)).toBe(`${number}-${slug}.md`);
  });

  test('has the headings of the template', () => {
    const headings = [...text.matchAll(/^## (.+)/gm)].map((match) => match[1]);
    expect(headings).toEqual(['Context', 'Decision', 'Alternatives considered', 'Consequences']);
  });
});

test('the index lists every decision with its title', () => {
  const index = readFileSync(join(ROOT, 'docs/decisions/README.md'), 'utf8');
  const rows = [...index.matchAll(/^\| \[\d{4}\]\((.+?)\) \| (.+) \|$/gm)].map((match) => [match[1], match[2]]);
  const titled = decisions.map((path) => {
    const [, title] = /^# \d{4}: (.+)/.exec(readFileSync(join(ROOT, path), 'utf8')) ?? [];
    return [basename(path), title];
  });
  expect(rows).toEqual(titled);
});
