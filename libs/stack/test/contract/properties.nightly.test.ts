import { expect, test } from '@jest/globals';
import { reportText, runSuites } from '@pipeline/contract-tests';
import { contractTarget, SELECTION } from './target.ts';

const target = contractTarget();

/** The same requests each time. A larger run on a running stack is described in libs/contract-tests/README.md. */
test('both services answer generated requests as they declare', async () => {
  const report = await runSuites(await target.open(), { ...SELECTION, suite: ['property'], write: true });
  expect(report.property?.findings.length === 0 ? '' : reportText(report)).toBe('');
  expect(report.property?.tally.requests).toBeGreaterThanOrEqual(SELECTION.runs);
  expect(report.property?.skipped).toEqual({});
}, 900_000);
