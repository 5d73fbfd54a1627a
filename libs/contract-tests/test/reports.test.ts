import { expect, test } from '@jest/globals';
import type { CheckResult } from '../src/checks/run-checks.ts';
import { badgeText } from '../src/report/badge.ts';
import { junitText } from '../src/report/junit.ts';
import { markdownText } from '../src/report/markdown.ts';
import { problemCount, type Report, summaryOf, timingsOf } from '../src/report/report.ts';
import { reportText } from '../src/report/terminal.ts';
import { Target } from '../src/target/target.ts';
import { surface } from './lying-server.ts';

const target = new Target({ url: 'http://127.0.0.1:1', surface, timeoutMs: 1, longestRetrySeconds: 0 });
target.timings.set('listThings', { requests: 2, totalMs: 30, slowestMs: 20 });

const result = (over: Partial<CheckResult>): CheckResult => ({
  surface: 'monitor',
  suite: 'errors',
  endpoint: 'listThings',
  name: 'refuses x',
  outcome: 'passed',
  text: null,
  curl: null,
  ms: 5,
  ...over,
});
const report: Report = {
  targets: [target],
  property: null,
  checks: [
    result({}),
    result({
      outcome: 'failed',
      name: 'says <b> & "c"',
      text: 'status is 200, expected `400` | \u0007',
      curl: "curl 'x'",
    }),
    result({ suite: 'paging', outcome: 'skipped', text: 'the target has no repo' }),
  ],
};

test('counts and times are those of the checks', () => {
  expect(problemCount(report)).toBe(1);
  expect(summaryOf(report)).toBe('checks: 1 passed, 1 failed, 1 skipped');
  expect(timingsOf(report)).toEqual([
    { surface: 'monitor', endpoint: 'listThings', requests: 2, meanMs: 15, slowestMs: 20 },
  ]);
});

test('JUnit XML escapes texts and holds no character that XML forbids', () => {
  const xml = junitText(report);
  expect(xml).toContain('<testsuite name="monitor errors" tests="2" failures="1" skipped="0" time="0.01">');
  expect(xml).toContain('name="says &lt;b&gt; &amp; &quot;c&quot;"');
  expect(xml).toContain('expected `400` | \ufffd');
  expect(xml).toContain('<skipped message="the target has no repo"/>');
  expect(xml).not.toContain('\u0007');
});

test('Markdown keeps a text with a pipe or a fence in its cell and block', () => {
  const text = markdownText(report);
  expect(text).toContain('## ❌ Contract tests');
  expect(text).toContain('| monitor | errors | 1 | 1 | 0 |');
  expect(text).toContain("```\ncurl 'x'\n```");
  const fenced = markdownText({ ...report, checks: [result({ outcome: 'failed', text: '```', name: 'a|b' })] });
  expect(fenced).toContain('````\n```\n````');
  expect(fenced).toContain('a\\|b');
});

test('the terminal names each failure with the command that shows it', () => {
  const text = reportText(report);
  expect(text).toContain('FAILED  monitor errors listThings: says <b> & "c"');
  expect(text).toContain("  curl 'x'");
  expect(text).toContain('skipped monitor listThings: refuses x: the target has no repo');
});

test.each([
  ['problems', report, '1 failed', true],
  ['no problem', { ...report, checks: [result({})] }, '1 passed', undefined],
  ['no check that ran', { ...report, checks: [result({ outcome: 'skipped' })] }, 'nothing tested', undefined],
])('a badge shows the result when there is %s', (_what, given, message, isError) => {
  const endpoint = JSON.parse(badgeText(given, 'badge.json'));
  expect(endpoint).toMatchObject({ schemaVersion: 1, label: 'contract', message });
  expect(endpoint.isError).toBe(isError);
  const picture = badgeText(given, 'contract.SVG');
  expect(picture).toContain(`<title>contract: ${message}</title>`);
  expect(picture).toContain(`fill="#${endpoint.color}"`);
});
