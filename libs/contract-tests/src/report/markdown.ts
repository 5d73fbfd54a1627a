import { curlOfCase } from './curl-of-case.ts';
import { problemCount, type Report, suiteCounts, summaryOf, targetOf, timingsOf, withOutcome } from './report.ts';

/** Slowest endpoints that are listed. */
const SLOWEST = 5;

/** The result for the summary of a job. */
export function markdownText(report: Report): string {
  const mark = problemCount(report) === 0 ? '✅' : '❌';
  return [
    `## ${mark} Contract tests`,
    summaryOf(report),
    table(
      ['surface', 'suite', 'passed', 'failed', 'skipped'],
      suiteCounts(report).map(({ surface, suite, passed, failed, skipped }) => [
        surface,
        suite,
        passed,
        failed,
        skipped,
      ]),
    ),
    ...failures(report),
    ...skips(report),
    '### Slowest endpoints',
    table(
      ['endpoint', 'requests', 'mean ms', 'slowest ms'],
      timingsOf(report)
        .slice(0, SLOWEST)
        .map(({ surface, endpoint, requests, meanMs, slowestMs }) => [
          `${surface} ${endpoint}`,
          requests,
          meanMs,
          slowestMs,
        ]),
    ),
    '',
  ].join('\n\n');
}

function failures(report: Report): string[] {
  const checks = withOutcome(report, 'failed').map(({ surface, endpoint, name, text, curl }) =>
    failure(`${surface} ${endpoint} ${name}`, text ?? '', curl ?? ''),
  );
  const findings = (report.property?.findings ?? []).map(({ surface, endpoint, problem, example }) =>
    failure(`${surface} ${endpoint} ${problem.kind}`, problem.text, curlOfCase(targetOf(report, surface), example)),
  );
  const all = [...checks, ...findings];
  return all.length === 0 ? [] : ['### Failures', ...all];
}

const failure = (title: string, text: string, curl: string): string =>
  `**${cell(title)}**\n\n${fenced(text)}\n\n${fenced(curl)}`;

function skips(report: Report): string[] {
  const reasons = new Map<string, number>();
  for (const { text } of withOutcome(report, 'skipped')) reasons.set(text ?? '', (reasons.get(text ?? '') ?? 0) + 1);
  if (reasons.size === 0) return [];
  return [
    '### Skipped',
    table(
      ['checks', 'reason'],
      [...reasons].map(([reason, count]) => [count, reason]),
    ),
  ];
}

const table = (head: readonly string[], rows: readonly (readonly (string | number)[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.map(cell).join(' | ')} |`).join('\n');

const cell = (value: string | number): string => String(value).replaceAll('|', '\\|').replace(/\s+/g, ' ');

/** A fence that is longer than any in the text. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}
