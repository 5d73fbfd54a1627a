import { createHash } from 'node:crypto';
import type { Invocation, TaskType } from '@pipeline/domain';
import { closingRun, type HeldTask, type RunEnd, type RunRow } from '@pipeline/store';
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
      await updateWorkersOf(unit, [claim]);
      return answer;
    },
    {
      toEnd: true,
      onRefused: (unit, claim) => bookInvocations(unit, claim, body.invocations),
      repeated: (run) => storedAnswer<T>(run, hash),
    },
  );
}

/**
 * Updates the status of the workers whose claims end.
 * @param going valid claims that were read with them and do not end.
 */
export async function updateWorkersOf(
  unit: TransactionContext,
  ended: readonly HeldClaim[],
  going: readonly HeldClaim[] = [],
): Promise<void> {
  const workers = new Map(
    ended.flatMap(({ worker, around }) => {
      if (!worker) return [];
      const held = around?.held ?? shownTask(going.find(({ run }) => run.worker_id === worker.id));
      return [[worker.id, { worker, held }] as const];
    }),
  );
  await updatePresence(unit, [...workers.values()], { alive: true });
}

const shownTask = (claim: HeldClaim | undefined): HeldTask | null =>
  claim?.around
    ? {
        id: claim.run.task_id,
        task_type: claim.run.task_type as TaskType,
        issue_number: claim.run.issue_number,
        owner: claim.around.context.repo.owner,
        name: claim.around.context.repo.name,
      }
    : null;

export const bodyHash = (body: object): string => createHash('sha256').update(JSON.stringify(body)).digest('hex');

/** The stored response to the request that ended the run; undefined for another request. */
export const storedAnswer = <T>(run: RunRow, hash: string): T | undefined =>
  run.report_hash === hash ? (run.report_answer as unknown as T) : undefined;
