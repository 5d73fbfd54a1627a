import { ANY_AGENT, isUsedUp, roundUsd, type TaskPayload } from '@pipeline/domain';
import { type Claimed, claimTasks, claimWithinLimits, findWorkers, isUniqueViolation } from '@pipeline/store';
import { type Engine, inTenant } from '../context/context.ts';
import { hashToken } from '../context/token-hash.ts';
import { isDayUsedUp } from '../costs/holds.ts';
import { isOwn, unknownWorker } from '../presence/own-worker.ts';
import { claimTokenOf, findKeyState, firstHashes } from './claim-key.ts';
import type { ClaimedTask, ClaimRequest } from './claim-types.ts';
import { type RecordedClaim, recordClaims } from './record-claims.ts';
import { returnClaim } from './return-claim.ts';

/** A claimed task, before snippets about its repo are added to the payload. */
export interface BatchedClaim {
  task: ClaimedTask;
  row: Claimed;
  mayHaveSnippets: boolean;
}

type Result = PromiseSettledResult<BatchedClaim | null>;

const NOTHING: Result = { status: 'fulfilled', value: null };

/** Tasks of issues over a limit that was lowered meanwhile are held; at most this many per claim. */
const MAX_HELD = 20;

/**
 * Claims tasks for concurrent requests of a tenant with the same types and repos: one statement claims all tasks, one
 * transaction records the claims. In a tenant with limited repos each request claims separately. A request and its
 * retries in one batch get one result.
 * @returns the result of each, in order. A failing one does not affect the others.
 */
export async function claimBatch(engine: Engine, requests: readonly ClaimRequest[]): Promise<Result[]> {
  const distinct = new Map(requests.map((request) => [keyOf(request), request]));
  const results = await claimDistinct(engine, [...distinct.values()]);
  return requests.map((request) => results.get(distinct.get(keyOf(request)) ?? request) ?? NOTHING);
}

/** Equal for the retries of one claim. */
const keyOf = (request: ClaimRequest): ClaimRequest | string =>
  request.claimSecret === undefined ? request : `${request.workerId} ${request.tokenId} ${request.claimSecret}`;

/** @returns the results by request; a request without a task has none. */
async function claimDistinct(engine: Engine, requests: readonly ClaimRequest[]): Promise<Map<ClaimRequest, Result>> {
  const results = new Map<ClaimRequest, Result>();
  const [first] = requests;
  if (!first) return results;
  const { tenantId, repoIds } = first;
  const ids = requests.map(({ workerId }) => workerId);
  const known = await findWorkers(engine.store.tenant, tenantId, ids, firstHashes(requests));
  const isLimited = known.some((worker) => worker.has_limited_repos);
  if (isLimited && requests.length > 1) return claimEach(engine, requests);
  const workers = new Map(known.map((worker) => [worker.id, worker]));
  const isClosed = repoIds?.length === 0 || (await isDayUsedUp(engine, tenantId));
  const own = requests.filter((request) => {
    const worker = workers.get(request.workerId);
    if (worker && isOwn(worker, request.tokenId)) return true;
    results.set(request, { status: 'rejected', reason: unknownWorker(request.workerId) });
    return false;
  });
  const agents = known.some((worker) => worker.has_compared_tasks) ? (first.agents ?? []) : [];
  const batch: Batch = {
    results,
    generations: new Map(),
    claimNext: isLimited ? claimWithinLimits : claimTasks,
    agents,
  };
  await repeatClaims(engine, batch, { requests: own, usedHashes: known[0]?.used_tokens ?? [] });
  const waiting = own.filter((one) => !results.has(one) && !isClosed && !workers.get(one.workerId)?.draining);
  await claimInRounds(engine, batch, waiting);
  return results;
}

async function claimEach(engine: Engine, requests: readonly ClaimRequest[]): Promise<Map<ClaimRequest, Result>> {
  const results = await Promise.allSettled(requests.map((request) => claimAlone(engine, request)));
  return new Map(requests.map((request, at) => [request, results[at] ?? NOTHING]));
}

async function claimAlone(engine: Engine, request: ClaimRequest): Promise<BatchedClaim | null> {
  const result = (await claimDistinct(engine, [request])).get(request);
  if (result?.status === 'rejected') throw result.reason;
  return result?.value ?? null;
}

interface Batch {
  results: Map<ClaimRequest, Result>;
  /** Generation of the next token of each request; absent = 0. */
  generations: Map<ClaimRequest, number>;
  claimNext: typeof claimTasks;
  /** Agents whose compared tasks are claimed; empty while there is no such task. */
  agents: readonly string[];
}

/**
 * Answers the requests that repeat a valid claim with the same task and token. Records for the others how often their
 * key was used.
 * @param usedHashes hashes of first tokens that were returned before.
 */
async function repeatClaims(
  engine: Engine,
  { results, generations }: Batch,
  { requests, usedHashes }: { requests: readonly ClaimRequest[]; usedHashes: readonly string[] },
): Promise<void> {
  if (usedHashes.length === 0) return;
  const repeated = requests.filter((request) => firstHashes([request]).some((hash) => usedHashes.includes(hash)));
  for (const request of repeated) {
    const state = await findKeyState(engine, request);
    if ('next' in state) {
      generations.set(request, state.next);
      continue;
    }
    const [end] = await Promise.allSettled(conclude(engine, [{ request, ...state }]));
    if (end) results.set(request, resultOf(end) ?? NOTHING);
  }
}

/** Repeats until all have a task or there is none. Requests whose task was held, or claimed by others, are repeated. */
async function claimInRounds(engine: Engine, batch: Batch, waiting: readonly ClaimRequest[]): Promise<void> {
  const { results } = batch;
  let left = waiting;
  try {
    for (let tries = 0; tries <= MAX_HELD && left.length > 0; tries += 1) {
      const claims = await claimRound(engine, batch, left);
      if (claims.length === 0) return;
      const ends = await Promise.allSettled(conclude(engine, claims));
      for (const [at, { request }] of claims.entries()) {
        const result = resultOf(ends[at]);
        if (result) results.set(request, result);
      }
      left = left.filter((request) => !results.has(request));
    }
  } catch (reason) {
    const ends = await resultsAfterError(engine, left, reason);
    for (const [request, end] of ends) results.set(request, end);
  }
}

/** Concurrent attempts of one claim: one of them has the task now, and the other finds it. Otherwise all failed. */
function resultsAfterError(
  engine: Engine,
  left: readonly ClaimRequest[],
  reason: unknown,
): Promise<[ClaimRequest, Result][]> {
  const isRace = isUniqueViolation(reason, 'runs_by_token');
  return Promise.all(
    left.map(async (request): Promise<[ClaimRequest, Result]> => {
      if (!isRace) return [request, { status: 'rejected', reason }];
      const [result] = await Promise.allSettled([claimAlone(engine, request)]);
      return [request, result];
    }),
  );
}

/** A row that was claimed for a request, with its token. */
interface NewClaim {
  request: ClaimRequest;
  claimToken: string;
  row: Claimed;
}

/** @returns a claim for each request for which there is a task. */
async function claimRound(
  engine: Engine,
  { claimNext, generations, agents }: Batch,
  requests: readonly ClaimRequest[],
): Promise<NewClaim[]> {
  const [first] = requests;
  if (!first) return [];
  const { tenantId, taskTypes, repoIds } = first;
  const tokens = new Map(
    requests.map((request) => {
      const generation = generations.get(request) ?? 0;
      generations.set(request, generation + 1);
      const claimToken = claimTokenOf(request, generation);
      return [hashToken(claimToken), { request, claimToken }];
    }),
  );
  const claimers = [...tokens].map(([tokenHash, { request }]) => ({ workerId: request.workerId, tokenHash }));
  const { leaseMs } = engine.settings();
  const rows = await claimNext(engine.store.tenant, tenantId, { taskTypes, agents, repoIds, claimers, leaseMs });
  return rows.flatMap((row) => {
    const token = tokens.get(row.claim_token_hash);
    return token ? [{ ...token, row }] : [];
  });
}

type Conclusion = BatchedClaim | null | 'held';

/** undefined = the task was held: the request gets another one. */
const resultOf = (end: PromiseSettledResult<Conclusion> | undefined): Result | undefined =>
  end?.status === 'fulfilled' && end.value === 'held' ? undefined : (end as Result | undefined);

/** Records the claims in one transaction. If that fails, each is recorded, and fails, separately. */
function conclude(engine: Engine, claims: readonly NewClaim[]): Promise<Conclusion>[] {
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

async function concludeOne(
  engine: Engine,
  { request, claimToken, row }: NewClaim,
  { worker, costUsd, promptVersion, payload, traceparent, mayHaveSnippets }: RecordedClaim,
): Promise<Conclusion> {
  const back = () => returnClaim(engine, { tenantId: request.tenantId, taskId: row.id, claimToken });
  if (worker?.draining) {
    await back();
    return null;
  }
  const { perIssueUsd } = engine.settings().costLimits;
  if (row.issue_id !== null && isUsedUp(costUsd, perIssueUsd)) {
    await back();
    return 'held';
  }
  const budgetUsd = leftOf(perIssueUsd, costUsd);
  const task = { ...taskOf(row, payload), promptVersion, claimToken, budgetUsd, traceparent };
  return { task, row, mayHaveSnippets };
}

const leftOf = (limitUsd: number | null, spentUsd: number): number | null =>
  limitUsd === null ? null : roundUsd(limitUsd - spentUsd);

function taskOf(
  row: Claimed,
  payload: TaskPayload,
): Omit<ClaimedTask, 'claimToken' | 'budgetUsd' | 'promptVersion' | 'traceparent'> {
  return {
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
  };
}
