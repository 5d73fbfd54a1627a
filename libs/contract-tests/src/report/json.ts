import type { PropertyResult } from '../property/property-suite.ts';
import type { Target } from '../target/target.ts';
import { curlCommand } from './curl.ts';

/** The result for programs; it holds no secret. */
export const propertyJson = ({ findings, ...rest }: PropertyResult, targetOf: (surface: string) => Target): object => ({
  ...rest,
  findings: findings.map(({ surface, endpoint, problem, example, times }) => ({
    surface,
    endpoint,
    kind: problem.kind,
    text: problem.text,
    times,
    credential: example.caller.credential.name,
    expectation: example.expectation,
    curl: curlCommand(targetOf(surface), example),
  })),
});
