import type { PropertyResult } from '../property/result.ts';
import { curlOfCase } from './curl-of-case.ts';
import { type Report, suiteCounts, summaryOf, targetOf, withOutcome } from './report.ts';

const table = (title: string, counts: Record<string, number>): string =>
  [title, ...Object.entries(counts).map(([name, times]) => `  ${String(times).padStart(8)}  ${name}`)].join('\n');

/** The result for people: counts, then each problem with the command that shows it. */
export function reportText(report: Report): string {
  const suites = suiteCounts(report).map(
    ({ surface, suite, passed, failed, skipped }) =>
      `${surface} ${suite}: ${passed} passed, ${failed} failed, ${skipped} skipped`,
  );
  const skipped = withOutcome(report, 'skipped').map(
    ({ surface, endpoint, name, text }) => `skipped ${surface} ${endpoint}: ${name}: ${text}`,
  );
  const failed = withOutcome(report, 'failed').map(({ surface, suite, endpoint, name, text, curl }) =>
    [`FAILED  ${surface} ${suite} ${endpoint}: ${name}`, `  ${text}`, ...(curl ? [`  ${curl}`] : [])].join('\n'),
  );
  const { property } = report;
  return [
    ...(suites.length > 0 ? [suites.join('\n')] : []),
    ...(skipped.length > 0 ? [skipped.join('\n')] : []),
    ...failed,
    ...(property ? propertyText(report, property) : []),
    summaryOf(report),
  ].join('\n\n');
}

function propertyText(report: Report, { findings, tally, skipped }: PropertyResult): string[] {
  const counts = [
    table('Requests by surface', tally.bySurface),
    table('By credential', tally.byCredential),
    table('By kind', tally.byExpectation),
    table('Answers by status', tally.byStatus),
    ...(Object.keys(tally.conditions).length > 0
      ? [table('Valid requests refused by a declared condition', tally.conditions)]
      : []),
  ];
  const left = Object.entries(skipped).map(([endpoint, reason]) => `skipped ${endpoint}: ${reason}`);
  if (left.length > 0) counts.push(left.join('\n'));
  const problems = findings.map(({ surface, endpoint, problem, example, times }) =>
    [
      `${problem.kind}  ${surface} ${endpoint}  (${times} requests)`,
      `  ${problem.text}`,
      `  credential: ${example.caller.credential.name}`,
      `  ${curlOfCase(targetOf(report, surface), example)}`,
    ].join('\n'),
  );
  return [...counts, ...problems];
}
