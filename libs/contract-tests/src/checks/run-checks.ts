import { curlCommand } from '../target/curl.ts';
import type { TestedSurface } from '../target/target.ts';
import type { Check } from './check.ts';
import { CheckFailed, CheckSkipped } from './outcome.ts';
import { Probe } from './probe.ts';
import type { Samples } from './samples.ts';

export interface CheckResult {
  surface: string;
  suite: string;
  endpoint: string;
  name: string;
  outcome: 'passed' | 'failed' | 'skipped';
  /** Why it failed or was skipped. */
  text: string | null;
  /** Sends the last request of a failed check again; without secrets. */
  curl: string | null;
  /** Milliseconds. */
  ms: number;
}

/** Makes the checks one after another. @returns a result for each, in their order. */
export async function runChecks(
  tested: TestedSurface,
  checks: readonly Check[],
  samples: Samples,
  onResult: (result: CheckResult) => void = () => undefined,
): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  for (const check of checks) {
    const result = await runCheck(tested, check, samples);
    onResult(result);
    results.push(result);
  }
  return results;
}

async function runCheck(tested: TestedSurface, check: Check, samples: Samples): Promise<CheckResult> {
  const { suite, endpoint, name } = check;
  const probe = new Probe(tested, samples);
  const began = performance.now();
  const resultOf = (outcome: CheckResult['outcome'], text: string | null): CheckResult => ({
    surface: tested.target.surface.name,
    suite,
    endpoint,
    name,
    outcome,
    text,
    curl: outcome === 'failed' && probe.last ? curlOf(tested, probe.last) : null,
    ms: Math.round(performance.now() - began),
  });
  try {
    await check.run(probe);
    return resultOf('passed', null);
  } catch (error) {
    if (error instanceof CheckSkipped) return resultOf('skipped', error.message);
    if (error instanceof CheckFailed) return resultOf('failed', error.message);
    throw error;
  }
}

const curlOf = ({ target }: TestedSurface, { request, credential }: NonNullable<Probe['last']>): string =>
  curlCommand(target.url, request, credential);
