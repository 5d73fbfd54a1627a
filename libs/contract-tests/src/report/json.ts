import type { PropertyResult } from '../property/result.ts';
import { curlOfCase } from './curl-of-case.ts';
import { type Report, targetOf, timingsOf } from './report.ts';

/** The result for programs; it holds no secret. */
export const reportJson = (report: Report): object => ({
  checks: report.checks,
  property: report.property && propertyJson(report, report.property),
  timings: timingsOf(report),
});

const propertyJson = (report: Report, { findings, ...rest }: PropertyResult): object => ({
  ...rest,
  findings: findings.map(({ surface, endpoint, problem, example, times }) => ({
    surface,
    endpoint,
    kind: problem.kind,
    text: problem.text,
    times,
    credential: example.caller.credential.name,
    expectation: example.expectation,
    curl: curlOfCase(targetOf(report, surface), example),
  })),
});
