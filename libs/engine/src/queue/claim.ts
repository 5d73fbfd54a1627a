import { ANY_AGENT, isUsedUp, roundUsd } from '@pipeline/domain';
import { type Claimed, claimTasks, isUniqueViolation } from '@pipeline/store';
import { batchedByEngine } from '../context/batched.ts';
import { type Engine, inTenant } from '../context/context.ts';
import { hashToken } from '../context/token-hash.ts';
import { isDayUsedUp } from '../costs/holds.ts';
import { snippetsFor } from '../knowledge/snippets-for.ts';
import { unknownWorker } from '../presence/own-worker.ts';
import { tokensOf } from './claim-key.ts';
import { type ClaimedTask, type ClaimRequest, claimScope } from './claim-types.ts';
import { recordClaims } from './record-claims.ts';
import { returnClaim } from './return-claim.ts';

/** Tasks of issues over a limit that was lowered meanwhile are held; a claim looks so often for another one at most. */
const MAX_ROUNDS = 20;

type Recorded = Awaited<ReturnType<typeof recordClaims>>[number];
type Found = { row: Claimed; task: ClaimedTask; mayHaveSnippets: boolean };
/** `held` = the budget of its issue is used up. */
type Conclusion = Found | null | 'held';
type Result = PromiseSettledResult<Conclusion>;
type NewClaim = { request: ClaimRequest; claimToken: string; row: Claimed };

/**
 * Claims the next task for a worker, without waiting. The fencing token is generated here and returned once. A claim of
 * a draining worker is returned to the queue without using an attempt, and so is a task of an issue with a used-up
 * budget; while the tenant's day is used up, nothing is claimed. Concurrent claims of one tenant for the same types and
 * repos share one statement and one transaction.
 * @returns null when there is no task for it, or when it is draining.
 * @throws AppError NOT_FOUND for a worker that is not registered, or not by this token.
 */
export async function claim(engine: Engine, request: ClaimRequest): Promise<ClaimedTask | null> {
  const found = await batcherOf(engine).submit(request, `${request.tenantId} ${claimScope(request)}`);
  if (!found?.mayHaveSnippets) return found?.task ?? null;
  // Outside of transactions and batches, because it may send a request to an endpoint.
  const snippets = await snippetsFor(engine, request.tenantId, found.row);
  return { ...found.task, payload: { ...found.task.payload, snippets } };
}

const batcherOf = batchedByEngine(claimTogether);

/** Equal for the retries of one claim. */
const keyOf = (request: ClaimRequest): ClaimRequest | string =>
  request.claimSecret === undefined ? request : `${request.workerId} ${request.tokenId} ${request.claimSecret}`;

/** Claims in rounds until each has a task or there is none. A request and its retries get one result. */
async function claimTogether(
  engine: Engine,
  all: readonly ClaimRequest[],
): Promise<PromiseSettledResult<Found | null>[]> {
  const distinct = new Map(all.map((request) => [keyOf(request), request]));
  const results = new Map<ClaimRequest, Result>();
  let waiting = [...distinct.values()];
  for (let round = 0; round <= MAX_ROUNDS && waiting.length > 0; round += 1) {
    const requests = waiting;
    waiting = await claimRound(engine, { requests, round }, results).catch((reason: unknown) => {
      for (const request of requests) results.set(request, { status: 'rejected', reason });
      return [];
    });
  }
  const nothing = { status: 'fulfilled', value: null } as const;
  return all.map((request) => (results.get(distinct.get(keyOf(request)) ?? request) ?? nothing) as typeof nothing);
}

/** @returns the requests for which there may be another task. */
async function claimRound(
  engine: Engine,
  { requests, round }: { requests: readonly ClaimRequest[]; round: number },
  results: Map<ClaimRequest, Result>,
): Promise<ClaimRequest[]> {
  const tokens = requests.map((request) => tokensOf(request, round > 0));
  const answers = await claimFor(engine, requests, tokens);
  for (const { request, is_own } of answers) {
    if (!is_own) results.set(request, { status: 'rejected', reason: unknownWorker(request.workerId) });
  }
  const claims = answers.flatMap(({ request, claimToken, task: row }) => (row ? [{ request, claimToken, row }] : []));
  const ends = await Promise.allSettled(conclude(engine, claims));
  for (const [at, { request }] of claims.entries()) results.set(request, ends[at] as Result);
  const isHeld = (result: Result | undefined) => result?.status === 'fulfilled' && result.value === 'held';
  const again = answers.filter(({ request, is_unsettled }) => is_unsettled || isHeld(results.get(request)));
  for (const { request } of again) results.delete(request);
  return again.map(({ request }) => request);
}

/** Repeats the statement of attempts of one claim that raced for its token: one has the task, and the others find it. */
async function claimFor(engine: Engine, requests: readonly ClaimRequest[], tokens: readonly string[][]) {
  const [{ tenantId, taskTypes, agents = [], repoIds } = {} as ClaimRequest] = requests;
  const isOpen = repoIds?.length !== 0 && !(await isDayUsedUp(engine, tenantId));
  const byHash = new Map(tokens.flat().map((token) => [hashToken(token), token]));
  const claimers = requests.map(({ workerId, tokenId = null }, at) => ({
    workerId,
    tokenId,
    tokenHashes: (tokens[at] ?? []).map(hashToken),
  }));
  const { leaseMs } = engine.settings();
  const order = { taskTypes, agents, repoIds, claimers, leaseMs, isOpen };
  const attempt = () => claimTasks(engine.store.db, tenantId, order);
  const answers = await attempt().catch((error: unknown) => {
    if (isUniqueViolation(error, 'runs_by_token')) return attempt();
    throw error;
  });
  return answers.map((answer, at) => ({
    ...answer,
    request: requests[at] as ClaimRequest,
    claimToken: byHash.get(answer.task?.claim_token_hash ?? '') ?? '',
  }));
}

/** Records the claims in one transaction. If that fails, each is recorded, and fails, separately. */
function conclude(engine: Engine, claims: readonly NewClaim[]): Promise<Conclusion>[] {
  if (claims.length === 0) return [];
  const record = (those: readonly NewClaim[]) =>
    inTenant(engine, those[0]?.request.tenantId ?? 0, (unit) =>
      recordClaims(
        unit,
        those.map(({ row, request }) => ({ row, workerId: request.workerId })),
      ),
    );
  const together = record(claims);
  return claims.map(async (claim, at) => {
    const recorded = await together.then(
      (all) => all[at],
      async (error: unknown) => {
        if (claims.length === 1) throw error;
        return (await record([claim]))[0];
      },
    );
    if (!recorded) throw new Error(`the claim of task ${claim.row.id} was not recorded`);
    return concludeOne(engine, claim, recorded);
  });
}

/** @returns null when the worker drains, `held` when the budget of the issue is used up. */
async function concludeOne(
  engine: Engine,
  { request: { tenantId }, claimToken, row }: NewClaim,
  { worker, costUsd, promptVersion, payload, traceparent, mayHaveSnippets }: Recorded,
): Promise<Conclusion> {
  const { perIssueUsd } = engine.settings().costLimits;
  const isDraining = worker?.draining || worker?.finishing;
  if (isDraining || (row.issue_id !== null && isUsedUp(costUsd, perIssueUsd))) {
    await returnClaim(engine, { tenantId, taskId: row.id, claimToken });
    return isDraining ? null : 'held';
  }
  const task = {
    id: row.id,
    taskType: row.task_type,
    repo: payload.repo.slug,
    issueNumber: row.issue_number || null,
    priority: row.priority,
    attempt: row.attempt,
    maxAttempts: row.max_attempts,
    agent: row.compared_agent === ANY_AGENT ? null : row.compared_agent,
    leaseExpiresAt: row.lease_expires_at,
    payload,
    maxTurns: null,
    promptVersion,
    claimToken,
    budgetUsd: perIssueUsd === null ? null : roundUsd(perIssueUsd - costUsd),
    traceparent,
  };
  return { row, task, mayHaveSnippets };
}
