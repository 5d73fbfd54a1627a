import type { PropertyResult } from '../property/property-suite.ts';
import type { Target } from '../target/target.ts';
import { curlCommand } from './curl.ts';

const table = (title: string, counts: Record<string, number>): string =>
  [title, ...Object.entries(counts).map(([name, times]) => `  ${String(times).padStart(8)}  ${name}`)].join('\n');

/** The result for people: counts, then each finding with the command that shows it. */
export function propertyText(
  { seed, findings, tally, skipped }: PropertyResult,
  targetOf: (surface: string) => Target,
) {
  const counts = [
    table('Requests by surface', tally.bySurface),
    table('By credential', tally.byCredential),
    table('By kind', tally.byExpectation),
    table('Answers by status', tally.byStatus),
    ...(Object.keys(tally.conditions).length > 0
      ? [table('Valid requests refused by a declared condition', tally.conditions)]
      : []),
    ...Object.entries(skipped).map(([endpoint, reason]) => `skipped ${endpoint}: ${reason}`),
  ];
  const problems = findings.map(({ surface, endpoint, problem, example, times }) =>
    [
      `${problem.kind}  ${surface} ${endpoint}  (${times} requests)`,
      `  ${problem.text}`,
      `  credential: ${example.caller.credential.name}`,
      `  ${curlCommand(targetOf(surface), example)}`,
    ].join('\n'),
  );
  const end = `${tally.requests} requests, ${findings.length} findings, seed ${seed}`;
  return [...counts, ...problems, end].join('\n\n');
}
