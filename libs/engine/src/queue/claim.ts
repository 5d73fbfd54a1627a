import { batchedByEngine } from '../context/batched.ts';
import type { Engine } from '../context/context.ts';
import { snippetsFor } from '../knowledge/snippets-for.ts';
import { claimBatch } from './claim-batch.ts';
import { type ClaimedTask, type ClaimRequest, claimScope } from './claim-types.ts';

/**
 * Claims the next task for a worker, without waiting. The fencing token is generated here and returned once. A claim of
 * a draining worker is returned to the queue without using an attempt, and so is a task of an issue with a used-up
 * budget; while the tenant's day is used up, nothing is claimed. Concurrent claims of one tenant for the same types and
 * repos share one statement and one transaction.
 * @returns null when there is no task for it, or when it is draining.
 * @throws AppError NOT_FOUND for a worker that is not registered, or not by this token.
 */
export async function claim(engine: Engine, request: ClaimRequest): Promise<ClaimedTask | null> {
  const claimed = await batcherOf(engine).submit(request, `${request.tenantId} ${claimScope(request)}`);
  if (!claimed?.mayHaveSnippets) return claimed?.task ?? null;
  // Outside of transactions and batches, because it may send a request to an endpoint.
  const snippets = await snippetsFor(engine, request.tenantId, claimed.row);
  return { ...claimed.task, payload: { ...claimed.task.payload, snippets } };
}

const batcherOf = batchedByEngine(claimBatch);
