import { isUsedUp, type TaskPayload, type TaskType } from '@pipeline/domain';
import { type Claimed, claimTasks, claimWithinLimits, findWorkers, isUniqueViolation } from '@pipeline/store';
import { type Engine, inTenant } from '../context/context.ts';
import { hashToken } from '../context/token-hash.ts';
import { isDayUsedUp } from '../costs/budgets.ts';
import { snippetsFor } from '../knowledge/snippets-for.ts';
import { isOwn, unknownWorker } from '../presence/own-worker.ts';
import { claimTokenOf, firstHashes, followKey } from './claim-key.ts';
import { returnClaim } from './reclaim.ts';
import { type NewClaim, noteClaims, type RecordedClaim } from './record-claims.ts';

export interface ClaimRequest {
  tenantId: number;
  workerId: string;
  /** The presented token; the worker must be registered with it. */
  tokenId?: string;
  taskTypes: readonly TaskType[];
  /** Null = all repos of the tenant. */
  repoIds: readonly number[] | null;
  /**
   * Secret of this claim, the same in each of its retries: they get the same task and token while the claim is valid.
   */
  claimSecret?: string;
}

export interface ClaimedTask {
  id: string;
  taskType: TaskType;
  repo: string;
  issueNumber: number | null;
  priority: number;
  attempt: number;
  maxAttempts: number;
  claimToken: string;
  leaseExpiresAt: string;
  payload: TaskPayload;
  promptVersion: number | null;
  maxTurns: number | null;
  /** The remaining budget of the issue; null = there is none. */
  budgetUsd: number | null;
}

/** Tasks of issues over a limit that was lowered meanwhile are held; at most this many per claim. */
const MOST_PUT_ASIDE = 20;

/** A claimed task, before snippets about its repo are added to the payload. */
export interface TakenTask {
  task: ClaimedTask;
  claimed: Claimed;
  isRepoKnown: boolean;
}

export type Taken = PromiseSettledResult<TakenTask | null>;

/**
 * Claims the next task for a worker, without waiting. The fencing token is generated here and returned once. A claim of
 * a draining worker is returned to the queue without using an attempt, and so is a task of an issue with a used-up
 * budget; while the tenant's day is used up, nothing is claimed.
 * @param take claims the task; by default for this worker alone.
 * @returns null when there is no task for it, or when it is draining.
 * @throws AppError NOT_FOUND for a worker that is not registered, or not by this token.
 */
export async function claim(
  engine: Engine,
  request: ClaimRequest,
  take: (request: ClaimRequest) => Promise<TakenTask | null> = (one) => takeAlone(engine, one),
): Promise<ClaimedTask | null> {
  const taken = await take(request);
  if (!taken?.isRepoKnown) return taken?.task ?? null;
  // Outside of transactions and batches, because it may send a request to an endpoint.
  const snippets = await snippetsFor(engine, request.tenantId, taken.claimed);
  return { ...taken.task, payload: { ...taken.task.payload, snippets } };
}

async function takeAlone(engine: Engine, request: ClaimRequest): Promise<TakenTask | null> {
  const [taken] = await takeTogether(engine, [request]);
  if (taken?.status === 'rejected') throw taken.reason;
  return taken?.value ?? null;
}

/**
 * Claims tasks for concurrent requests of a tenant with the same types and repos: one statement claims all tasks, one
 * transaction records the claims. In a tenant with limited repos each request claims separately.
 * @returns the result of each, in order. A failing one does not affect the others.
 */
export async function takeTogether(engine: Engine, requests: readonly ClaimRequest[]): Promise<Taken[]> {
  const [first] = requests;
  if (!first) return [];
  const { tenantId, repoIds } = first;
  const ids = requests.map(({ workerId }) => workerId);
  const known = await findWorkers(engine.store.tenant, tenantId, ids, firstHashes(requests));
  const isLimited = known.some((worker) => worker.has_limited_repos);
  if (isLimited && requests.length > 1) return Promise.allSettled(requests.map((each) => takeAlone(engine, each)));
  const workers = new Map(known.map((worker) => [worker.id, worker]));
  const isClosed = repoIds?.length === 0 || (await isDayUsedUp(engine, tenantId));
  const answers = new Map<ClaimRequest, Taken>();
  const own = requests.filter((request) => {
    const worker = workers.get(request.workerId);
    if (worker && isOwn(worker, request.tokenId)) return true;
    answers.set(request, { status: 'rejected', reason: unknownWorker(request.workerId) });
    return false;
  });
  const generations = await answerRetries(engine, { requests: own, used: known[0]?.used_tokens ?? [], answers });
  const asking = own.filter((one) => !answers.has(one) && !isClosed && !workers.get(one.workerId)?.draining);
  await takeInRounds(engine, { asking, answers, generations, claimNext: isLimited ? claimWithinLimits : claimTasks });
  return requests.map((request) => answers.get(request) ?? NOTHING);
}

interface Retries {
  requests: readonly ClaimRequest[];
  /** Hashes of first tokens that were returned before. */
  used: readonly string[];
  answers: Map<ClaimRequest, Taken>;
}

/**
 * Answers the requests that repeat a valid claim: with the same task and token.
 * @returns how often the key of a request was used, if it was.
 */
async function answerRetries(engine: Engine, { requests, used, answers }: Retries): Promise<Map<ClaimRequest, number>> {
  const generations = new Map<ClaimRequest, number>();
  if (used.length === 0) return generations;
  const repeated = requests.filter((request) => firstHashes([request]).some((hash) => used.includes(hash)));
  for (const request of repeated) {
    const state = await followKey(engine, request);
    if ('next' in state) {
      generations.set(request, state.next);
      continue;
    }
    const claim = { request, workerId: request.workerId, ...state };
    const [end] = await Promise.allSettled(noted(engine, [claim]));
    if (end) answers.set(request, end.status === 'fulfilled' && end.value === 'put aside' ? NOTHING : (end as Taken));
  }
  return generations;
}

const NOTHING: Taken = { status: 'fulfilled', value: null };

interface Asking {
  asking: ClaimRequest[];
  answers: Map<ClaimRequest, Taken>;
  /** Generation of the next token of each request; absent = 0. */
  generations: Map<ClaimRequest, number>;
  claimNext: typeof claimTasks;
}

/** Repeats until all have a task or there is none. Requests whose task was held, or claimed by others, are repeated. */
async function takeInRounds(engine: Engine, round: Asking): Promise<void> {
  const { asking, answers } = round;
  let left = asking;
  try {
    for (let tries = 0; tries <= MOST_PUT_ASIDE && left.length > 0; tries += 1) {
      const claims = await take(engine, left, round);
      if (claims.length === 0) return;
      const ends = await Promise.allSettled(noted(engine, claims));
      for (const [at, { request }] of claims.entries()) {
        const end = ends[at];
        if (end && !(end.status === 'fulfilled' && end.value === 'put aside')) answers.set(request, end as Taken);
      }
      left = left.filter((request) => !answers.has(request));
    }
  } catch (reason) {
    for (const [request, end] of await endsOf(engine, left, reason)) answers.set(request, end);
  }
}

/** Concurrent attempts of one claim: one of them has the task now, and the other finds it. Otherwise all failed. */
async function endsOf(
  engine: Engine,
  left: readonly ClaimRequest[],
  reason: unknown,
): Promise<[ClaimRequest, Taken][]> {
  const isRace = isUniqueViolation(reason, 'runs_by_token');
  return Promise.all(
    left.map(async (request) => {
      if (!isRace) return [request, { status: 'rejected', reason }];
      const [end] = await Promise.allSettled([takeAlone(engine, request)]);
      return [request, end];
    }),
  );
}

/** A claimed task with its worker and token. */
interface Claim extends NewClaim {
  request: ClaimRequest;
  claimToken: string;
}

/** @returns a claim for each request for which there is a task. */
async function take(engine: Engine, requests: ClaimRequest[], { claimNext, generations }: Asking): Promise<Claim[]> {
  const [first] = requests;
  if (!first) return [];
  const { tenantId, taskTypes, repoIds } = first;
  const tokens = new Map(
    requests.map((request) => {
      const generation = generations.get(request) ?? 0;
      generations.set(request, generation + 1);
      const claimToken = claimTokenOf(request, generation);
      return [hashToken(claimToken), { request, claimToken, workerId: request.workerId }];
    }),
  );
  const claimers = [...tokens].map(([tokenHash, { workerId }]) => ({ workerId, tokenHash }));
  const { leaseMs } = engine.settings();
  const claims = await claimNext(engine.store.tenant, tenantId, { taskTypes, repoIds, claimers, leaseMs });
  return claims.flatMap((claimed) => {
    const token = tokens.get(claimed.claim_token_hash);
    return token ? { ...token, claimed } : [];
  });
}

type End = TakenTask | null | 'put aside';

/** Records the claims in one transaction. If that fails, each is recorded, and fails, separately. */
function noted(engine: Engine, claims: readonly Claim[]): Promise<End>[] {
  const note = (those: readonly Claim[]) =>
    inTenant(engine, those[0]?.request.tenantId ?? 0, (unit) => noteClaims(unit, those));
  const together = note(claims);
  return claims.map(async (claim, at) => {
    const found = await together.then(
      (all) => all[at],
      async (error: unknown) => {
        if (claims.length === 1) throw error;
        return (await note([claim]))[0];
      },
    );
    if (!found) throw new Error(`the claim of task ${claim.claimed.id} was not recorded`);
    return conclude(engine, claim, found);
  });
}

async function conclude(engine: Engine, { request, claimToken, claimed }: Claim, found: RecordedClaim): Promise<End> {
  const { worker, costUsd, promptVersion, payload, isRepoKnown } = found;
  const back = () => returnClaim(engine, { tenantId: request.tenantId, taskId: claimed.id, claimToken });
  if (worker?.draining) {
    await back();
    return null;
  }
  const { perIssueUsd } = engine.settings().costLimits;
  if (claimed.issue_id !== null && isUsedUp(costUsd, perIssueUsd)) {
    await back();
    return 'put aside';
  }
  const task = { ...describe(claimed, payload), promptVersion, claimToken, budgetUsd: leftOf(perIssueUsd, costUsd) };
  return { task, claimed, isRepoKnown };
}

const leftOf = (limitUsd: number | null, spentUsd: number): number | null =>
  limitUsd === null ? null : Math.round((limitUsd - spentUsd) * 1_000_000) / 1_000_000;

type Described = Omit<ClaimedTask, 'claimToken' | 'budgetUsd' | 'promptVersion'>;

function describe(task: Claimed, payload: TaskPayload): Described {
  return {
    id: task.id,
    taskType: task.task_type,
    repo: payload.repo.slug,
    issueNumber: task.issue_number || null,
    priority: task.priority,
    attempt: task.attempt,
    maxAttempts: task.max_attempts,
    leaseExpiresAt: task.lease_expires_at,
    payload,
    maxTurns: null,
  };
}
