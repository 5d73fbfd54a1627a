/** The tests that docs/security.md names for each threat must exist under these names. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { ROOT } from './workspace.ts';

const PAGE = readFileSync(join(ROOT, 'docs/security.md'), 'utf8');

interface Threat {
  number: number;
  tests: { path: string; name: string }[];
  /** The cell as it stands there. */
  cell: string;
}

/** Rows `| number | threat | control | tests |`; a test is `path` "name", several are parted by <br>. */
function threatsOf(page: string): Threat[] {
  return page.split('\n').flatMap((line) => {
    const [, number = '', , , cell = ''] = line.split('|').map((part) => part.trim());
    if (!/^\d+$/.test(number)) return [];
    return [{ number: Number(number), cell, tests: testsIn(cell) }];
  });
}

const testsIn = (cell: string): Threat['tests'] =>
  [...cell.matchAll(/`([^`]+)` "([^"]+)"/g)].map(([, path = '', name = '']) => ({ path, name }));

/** Returns whether a file has a test, or a rule that a test expects, of that name. */
const exists = ({ path, name }: Threat['tests'][number]): boolean =>
  existsSync(join(ROOT, path)) && readFileSync(join(ROOT, path), 'utf8').includes(name);

const threats = threatsOf(PAGE);

describe('docs/security.md', () => {
  test('numbers its threats without a gap', () => {
    expect(threats.map(({ number }) => number)).toEqual(threats.map((_, index) => index + 1));
    expect(threats.length).toBeGreaterThan(20);
  });

  test.each(threats)('names tests that exist for threat $number', (threat) => {
    expect(threat.tests.length).toBeGreaterThan(0);
    expect(threat.tests.filter((one) => !exists(one))).toEqual([]);
    expect(threat.cell.split('<br>')).toHaveLength(threat.tests.length);
  });
});

test('the check reads rows, and finds a test that is gone', () => {
  const [threat] = threatsOf('| 3 | a | b | `scripts/checks/none.test.ts` "x"<br>`package.json` "pnpm" |\n| a | b |');
  expect(threat?.tests.map(exists)).toEqual([false, true]);
});
