import { createHash } from 'node:crypto';
import type { Invocation } from '@pipeline/domain';
import { closingRun, type RunEnd, type RunRow } from '@pipeline/store';
import type { Engine, TransactionContext } from '../context/context.ts';
import type { HeldClaim } from '../context/issue-context.ts';
import { bookInvocations } from '../costs/book-invocations.ts';
import { updatePresence } from '../presence/worker-status.ts';
import type { ClaimToken } from './claim-types.ts';
import { withClaim } from './with-claim.ts';

/**
 * Ends a claim with the worker's last request: closes its run and stores the response. The same token and body again
 * return that response and change nothing, because workers repeat a request that got no response. A request that comes
 * too late is refused, and its cost is recorded all the same.
 * @param work applies the request; returns the response and how the run ended.
 * @throws AppError CLAIM_LOST or TASK_CANCELLED.
 */
export function endClaim<T extends object>(
  engine: Engine,
  token: ClaimToken,
  body: { invocations: readonly Invocation[] },
  work: (unit: TransactionContext, claim: HeldClaim) => Promise<{ answer: T; end: Omit<RunEnd, 'report'> }>,
): Promise<T> {
  const hash = bodyHash(body);
  return withClaim(
    engine,
    token,
    async (unit, claim) => {
      const { answer, end } = await work(unit, claim);
      unit.rows.setRun(claim.run.id, closingRun({ ...end, report: { hash, answer } }));
      const { worker, around } = claim;
      if (worker) await updatePresence(unit, [{ worker, held: around?.held ?? null }], { alive: true });
      return answer;
    },
    {
      toEnd: true,
      onRefused: (unit, claim) => bookInvocations(unit, claim, body.invocations),
      repeated: (run) => storedAnswer<T>(run, hash),
    },
  );
}

const bodyHash = (body: object): string => createHash('sha256').update(JSON.stringify(body)).digest('hex');

/** The stored response to the request that ended the run; undefined for another request. */
const storedAnswer = <T>(run: RunRow, hash: string): T | undefined =>
  run.report_hash === hash ? (run.report_answer as unknown as T) : undefined;
