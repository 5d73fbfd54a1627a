import type { AnyRoute } from '@pipeline/contract';
import type fc from 'fast-check';

/** Milliseconds that a generated claim waits at most: the declared 30 s would only hold the run up. */
const LONGEST_WAIT = 20;

/** Requests that cost the run time and show nothing, made smaller. They stay valid. */
export function requestLimits(route: AnyRoute, values: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  if (route.id !== 'claimTask') return values;
  return values.map((value) => {
    const { waitMs, ...rest } = value as { waitMs?: number };
    return waitMs === undefined ? rest : { ...rest, waitMs: Math.min(waitMs, LONGEST_WAIT) };
  });
}
