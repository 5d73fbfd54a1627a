import { expect, test } from '@jest/globals';
import { CHECK_SUITES, reportText, runSuites } from '@pipeline/contract-tests';
import { contractTarget, SCRATCH, SELECTION } from './target.ts';

const target = contractTarget();

/** The history has tracks without prompts and repos without snapshots. */
const NOT_IN_HISTORY = ['readTrackPrompt', 'readStrategySnapshot'];

test('both services pass every check that the data allows', async () => {
  const report = await runSuites(await target.open(), { ...SELECTION, suite: CHECK_SUITES, write: SCRATCH });
  expect(report.checks.some(({ outcome }) => outcome === 'failed') ? reportText(report) : '').toBe('');
  expect(report.checks.length).toBeGreaterThan(500);
  const skipped = report.checks.filter(({ outcome }) => outcome === 'skipped');
  expect([...new Set(skipped.map(({ endpoint }) => endpoint))]).toEqual(NOT_IN_HISTORY);
}, 900_000);
