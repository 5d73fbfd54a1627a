import type { CheckResult } from '../checks/run-checks.ts';
import type { Finding, PropertyResult } from '../property/result.ts';
import { curlOfCase } from './curl-of-case.ts';
import { type Report, suiteCounts, targetOf } from './report.ts';

/** The result as JUnit XML: a test suite per surface and suite of checks, one for the property suite. */
export function junitText(report: Report): string {
  const suites = suiteCounts(report).map(({ surface, suite, passed, failed, skipped }) => {
    const cases = report.checks.filter((check) => check.surface === surface && check.suite === suite);
    const seconds = cases.reduce((sum, { ms }) => sum + ms, 0) / 1_000;
    const counts = `tests="${passed + failed + skipped}" failures="${failed}" skipped="${skipped}" time="${seconds}"`;
    return element('testsuite', `name="${xml(`${surface} ${suite}`)}" ${counts}`, cases.map(caseOf));
  });
  const all = [...suites, ...(report.property ? [propertySuite(report, report.property)] : [])];
  return `<?xml version="1.0" encoding="UTF-8"?>\n${element('testsuites', 'name="pipeline-contract"', all)}\n`;
}

function caseOf({ surface, suite, endpoint, name, outcome, text, curl, ms }: CheckResult): string {
  const inner = {
    passed: [],
    skipped: [`<skipped message="${xml(text ?? '')}"/>`],
    failed: [`<failure message="${xml(text ?? '')}">${xml(curl ?? '')}</failure>`],
  }[outcome];
  const names = `classname="${xml(`${surface}.${suite}.${endpoint}`)}" name="${xml(name)}"`;
  return element('testcase', `${names} time="${ms / 1_000}"`, inner);
}

function propertySuite(report: Report, { tally, findings, skipped, seed }: PropertyResult): string {
  const endpoints = Object.keys(tally.byEndpoint);
  const failing = new Set(findings.map(({ surface, endpoint }) => `${surface} ${endpoint}`));
  const cases = [
    ...endpoints.map((key) => {
      const own = findings.filter(({ surface, endpoint }) => `${surface} ${endpoint}` === key);
      const inner = own.map((finding) => failureOf(report, finding));
      return element('testcase', `classname="property" name="${xml(key)}"`, inner);
    }),
    ...Object.entries(skipped).map(([key, reason]) =>
      element('testcase', `classname="property" name="${xml(key)}"`, [`<skipped message="${xml(reason)}"/>`]),
    ),
  ];
  const counts = `tests="${cases.length}" failures="${failing.size}" skipped="${Object.keys(skipped).length}"`;
  return element('testsuite', `name="property, seed ${seed}" ${counts}`, cases);
}

const failureOf = (report: Report, { surface, problem, example }: Finding): string =>
  `<failure type="${problem.kind}" message="${xml(problem.text)}">${xml(curlOfCase(targetOf(report, surface), example))}</failure>`;

const element = (name: string, attributes: string, inner: readonly string[]): string =>
  inner.length === 0 ? `<${name} ${attributes}/>` : `<${name} ${attributes}>\n${inner.join('\n')}\n</${name}>`;

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Text that XML 1.0 allows; other characters become U+FFFD. */
const xml = (text: string): string =>
  text
    .replace(/[&<>"]/g, (char) => ESCAPES[char] ?? char)
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd');
