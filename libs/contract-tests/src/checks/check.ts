import type { Probe } from './probe.ts';

/** Suites of checks in the order in which they run and are reported. */
export const CHECK_SUITES = [
  'documents',
  'answers',
  'authentication',
  'errors',
  'paging',
  'stream',
  'metrics',
  'mcp',
  'oauth',
  'worker',
  'scratch',
] as const;
export type CheckSuite = (typeof CHECK_SUITES)[number];

/** One sentence of the contract that a target keeps or breaks. */
export interface Check {
  suite: CheckSuite;
  /** operationId, or `unknown` for addresses of no endpoint. */
  endpoint: string;
  /** Name of what the target does: unique within suite and endpoint. */
  name: string;
  /** @throws CheckFailed, CheckSkipped */
  run(probe: Probe): Promise<void>;
}
