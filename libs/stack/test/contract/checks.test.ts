import { expect, test } from '@jest/globals';
import { CHECK_SUITES, reportText, runSuites } from '@pipeline/contract-tests';
import { contractTarget, SCRATCH, SELECTION } from './target.ts';

const target = contractTarget();

test('both services pass every check, and none is skipped but for what no history has', async () => {
  const report = await runSuites(await target.open(), { ...SELECTION, suite: CHECK_SUITES, write: SCRATCH });
  expect(report.checks.some(({ outcome }) => outcome === 'failed') ? reportText(report) : '').toBe('');
  expect(report.checks.length).toBeGreaterThan(500);
  const skipped = report.checks.filter(({ outcome }) => outcome === 'skipped');
  expect(skipped.map(({ endpoint, text }) => `${endpoint}: ${text}`)).toEqual([]);
}, 120_000);
