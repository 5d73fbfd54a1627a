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

/** Whether a file has a test, or a rule that a test expects, of that name. */
const exists = ({ path, name }: Threat['tests'][number]): boolean =>
  existsSync(join(ROOT, path)) && readFileSync(join(ROOT, path), 'utf8').includes(name);

/**
 * Threats whose tests are not in this tree yet, with the cell for the page as far as it is known. Their cell is empty on the
 * page. Once the tests are here, the cell goes to the page and the entry goes away.
 */
const AWAITED: Readonly<Record<number, string>> = {
  7: '`services/hosted-api/test/login.test.ts` "is refused over all replicas with the time to wait, whether the password is right or wrong"<br>`services/monitor/test/auth.test.ts` "refuses right and wrong Basic credentials alike, before comparing, when the limit is reached"<br>`services/monitor/test/login-audit.test.ts` "records failed logins of both kinds with the name, and the first refusal of a window"',
  9: '',
  13: '`services/hosted-api/test/oauth-errors.test.ts` "is a page that spells the address out, when nobody approved the program"',
  14: '`services/hosted-api/test/oauth-programs.test.ts` "when it comes from a metadata document"',
  16: '',
};

const threats = threatsOf(PAGE);

describe('docs/security.md', () => {
  test('numbers its threats without a gap', () => {
    expect(threats.map(({ number }) => number)).toEqual(threats.map((_, index) => index + 1));
    expect(threats.length).toBeGreaterThan(20);
  });

  test.each(threats.filter(({ number }) => !(number in AWAITED)))(
    'names tests that exist for threat $number',
    (threat) => {
      expect(threat.tests.length).toBeGreaterThan(0);
      expect(threat.tests.filter((one) => !exists(one))).toEqual([]);
      expect(threat.cell.split('<br>')).toHaveLength(threat.tests.length);
    },
  );

  test('leaves the cell of an awaited threat empty, and only while its tests are missing', () => {
    const cells = threats.filter(({ number }) => number in AWAITED).map(({ cell }) => cell);
    expect(cells).toEqual(Object.keys(AWAITED).map(() => ''));
    const arrived = Object.entries(AWAITED).filter(([, cell]) => testsIn(cell).some(exists));
    expect(arrived).toEqual([]);
  });
});

test('the check reads rows, and finds a test that is gone', () => {
  const [threat] = threatsOf('| 3 | a | b | `scripts/checks/none.test.ts` "x"<br>`package.json` "pnpm" |\n| a | b |');
  expect(threat?.tests.map(exists)).toEqual([false, true]);
});
