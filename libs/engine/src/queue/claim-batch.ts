import { claimForWorkers, claimTasks, claimWithinLimits, isUniqueViolation } from '@pipeline/store';
import type { Engine } from '../context/context.ts';
import { hashToken } from '../context/token-hash.ts';
import { isDayUsedUp } from '../costs/holds.ts';
import { unknownWorker } from '../presence/own-worker.ts';
import { claimTokenOf, findKeyState } from './claim-key.ts';
import type { ClaimRequest } from './claim-types.ts';
import { type BatchedClaim, type Conclusion, conclude, type NewClaim } from './conclude-claims.ts';

type Result = PromiseSettledResult<BatchedClaim | null>;

const NOTHING: Result = { status: 'fulfilled', value: null };

/** Tasks of issues over a limit that was lowered meanwhile are held; at most this many per claim. */
const MAX_HELD = 20;

/**
 * Claims tasks for concurrent requests of a tenant with the same types and repos: one statement checks the workers and
 * claims all tasks, one transaction records the claims. In a tenant with limited repos each request then claims
 * separately. A request and its retries in one batch get one result.
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

interface Batch {
  /** By request; one without a task has none. */
  results: Map<ClaimRequest, Result>;
  /** Generation of the next token of each request; absent = 0. */
  generations: Map<ClaimRequest, number>;
  /** It retries one request that lost a race for its token. A second race fails it: a retry never retries again. */
  isRetry: boolean;
}

async function claimDistinct(
  engine: Engine,
  requests: readonly ClaimRequest[],
  isRetry = false,
): Promise<Map<ClaimRequest, Result>> {
  const batch: Batch = { results: new Map(), generations: new Map(), isRetry };
  const [first] = requests;
  if (!first) return batch.results;
  const isOpen = first.repoIds?.length !== 0 && !(await isDayUsedUp(engine, first.tenantId));
  await withResults(engine, batch, requests, async () => {
    const { claims, others, agents, isLimited } = await claimChecked(engine, batch, { requests, isOpen });
    await concludeAll(engine, batch, claims);
    if (!isOpen) return;
    const held = claims.flatMap(({ request }) => (batch.results.has(request) ? [] : [request]));
    const left = [...held, ...others];
    if (!isLimited) return claimInRounds(engine, batch, left, { claimNext: claimTasks, agents });
    await Promise.all(left.map((request) => claimWithin(engine, batch, { request, agents })));
  });
  return batch.results;
}

/** In a tenant with limited repos each claim is one of its own, because it is counted under a lock. */
const claimWithin = (
  engine: Engine,
  batch: Batch,
  { request, agents }: { request: ClaimRequest; agents: readonly string[] },
): Promise<void> =>
  withResults(engine, batch, [request], () =>
    claimInRounds(engine, batch, [request], { claimNext: claimWithinLimits, agents }),
  );

async function retryAlone(engine: Engine, request: ClaimRequest): Promise<BatchedClaim | null> {
  const result = (await claimDistinct(engine, [request], true)).get(request);
  if (result?.status === 'rejected') throw result.reason;
  return result?.value ?? null;
}

interface Checked {
  claims: NewClaim[];
  /** Requests that may claim a task and have none yet, although there may be one. */
  others: ClaimRequest[];
  /** Agents whose compared tasks are claimed; empty while there is no such task. */
  agents: readonly string[];
  isLimited: boolean;
}

/** Checks all requests, and claims a task for each that may have one and for which there is one. */
async function claimChecked(
  engine: Engine,
  batch: Batch,
  { requests, isOpen }: { requests: readonly ClaimRequest[]; isOpen: boolean },
): Promise<Checked> {
  const tokens = requests.map((request) => nextToken(batch, request));
  const claimers = tokens.map(({ request, tokenHash }) => ({
    workerId: request.workerId,
    tokenId: request.tokenId ?? null,
    tokenHash,
    repeats: request.claimSecret === undefined ? null : tokenHash,
  }));
  const { leaseMs } = engine.settings();
  const { tenantId, ...order } = orderOf(requests);
  const answers = await claimForWorkers(engine.store.tenant, tenantId, { ...order, claimers, leaseMs, isOpen });
  const claims: NewClaim[] = [];
  const repeated: ClaimRequest[] = [];
  const draining = new Set<ClaimRequest>();
  const without: ClaimRequest[] = [];
  for (const [at, answer] of answers.entries()) {
    const token = tokens[at];
    if (!token) continue;
    const { request } = token;
    if (answer.is_draining) draining.add(request);
    if (!answer.is_own) batch.results.set(request, { status: 'rejected', reason: unknownWorker(request.workerId) });
    else if (answer.task) claims.push(used(batch, { ...token, row: answer.task }));
    else if (answer.is_repeated) repeated.push(request);
    else without.push(request);
  }
  const unclaimed = await repeatClaims(engine, batch, repeated);
  const isLimited = answers.some((answer) => answer.is_limited);
  const agents = answers.some((answer) => answer.has_compared_tasks) ? order.agents : [];
  // While some find a task, another claim may have taken those of the others.
  const others = claims.length > 0 || isLimited ? [...without, ...unclaimed] : unclaimed;
  return { claims, others: others.filter((request) => !draining.has(request)), agents, isLimited };
}

/** What the requests of a batch have in common. */
function orderOf([first]: readonly ClaimRequest[]) {
  if (!first) throw new RangeError('a batch of no claims');
  const { tenantId, taskTypes, agents = [], repoIds } = first;
  return { tenantId, taskTypes, agents, repoIds };
}

/** A request with the token of its next claim. */
interface Token {
  request: ClaimRequest;
  claimToken: string;
  tokenHash: string;
}

function nextToken({ generations }: Batch, request: ClaimRequest): Token {
  const claimToken = claimTokenOf(request, generations.get(request) ?? 0);
  return { request, claimToken, tokenHash: hashToken(claimToken) };
}

/** The next claim of the request gets another token. A request without a task keeps its token: a retry looks for it. */
function used({ generations }: Batch, claim: NewClaim): NewClaim {
  generations.set(claim.request, (generations.get(claim.request) ?? 0) + 1);
  return claim;
}

/**
 * Answers the requests that repeat a valid claim with the same task and token. Records for the others how often their
 * key was used. @returns those.
 */
async function repeatClaims(
  engine: Engine,
  { results, generations }: Batch,
  repeated: readonly ClaimRequest[],
): Promise<ClaimRequest[]> {
  const left: ClaimRequest[] = [];
  for (const request of repeated) {
    const state = await findKeyState(engine, request);
    if ('next' in state) {
      generations.set(request, state.next);
      left.push(request);
      continue;
    }
    const [end] = await Promise.allSettled(conclude(engine, [{ request, ...state }]));
    if (end) results.set(request, resultOf(end) ?? NOTHING);
  }
  return left;
}

interface Rounds {
  claimNext: typeof claimTasks;
  agents: readonly string[];
}

/** Repeats until all have a task or there is none. Requests whose task was held, or claimed by others, are repeated. */
async function claimInRounds(
  engine: Engine,
  batch: Batch,
  waiting: readonly ClaimRequest[],
  rounds: Rounds,
): Promise<void> {
  let left = waiting;
  for (let tries = 0; tries <= MAX_HELD && left.length > 0; tries += 1) {
    const claims = await claimRound(engine, batch, left, rounds);
    if (claims.length === 0) return;
    await concludeAll(engine, batch, claims);
    left = left.filter((request) => !batch.results.has(request));
  }
}

/** @returns a claim for each request for which there is a task. */
async function claimRound(
  engine: Engine,
  batch: Batch,
  requests: readonly ClaimRequest[],
  { claimNext, agents }: Rounds,
): Promise<NewClaim[]> {
  const tokens = new Map(
    requests.map((request) => {
      const token = nextToken(batch, request);
      return [token.tokenHash, token];
    }),
  );
  const claimers = [...tokens].map(([tokenHash, { request }]) => ({ workerId: request.workerId, tokenHash }));
  const { leaseMs } = engine.settings();
  const { tenantId, ...order } = orderOf(requests);
  const rows = await claimNext(engine.store.tenant, tenantId, { ...order, agents, claimers, leaseMs });
  return rows.flatMap((row) => {
    const token = tokens.get(row.claim_token_hash);
    return token ? [used(batch, { ...token, row })] : [];
  });
}

/** Does the work; if it fails, the requests without a result fail with it. */
async function withResults(
  engine: Engine,
  { results, isRetry }: Batch,
  requests: readonly ClaimRequest[],
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (reason) {
    const left = requests.filter((request) => !results.has(request));
    const mayRetry = !isRetry && isUniqueViolation(reason, 'runs_by_token');
    for (const [request, end] of await resultsAfterError(engine, left, { reason, mayRetry })) results.set(request, end);
  }
}

/** After a race of attempts of one claim, one has the task and a retry of the other finds it. Otherwise all failed. */
function resultsAfterError(
  engine: Engine,
  left: readonly ClaimRequest[],
  { reason, mayRetry }: { reason: unknown; mayRetry: boolean },
): Promise<[ClaimRequest, Result][]> {
  return Promise.all(
    left.map(async (request): Promise<[ClaimRequest, Result]> => {
      if (!mayRetry) return [request, { status: 'rejected', reason }];
      const [result] = await Promise.allSettled([retryAlone(engine, request)]);
      return [request, result];
    }),
  );
}

/** Sets the results of these claims; a request whose task was held gets none. */
async function concludeAll(engine: Engine, { results }: Batch, claims: readonly NewClaim[]): Promise<void> {
  if (claims.length === 0) return;
  const ends = await Promise.allSettled(conclude(engine, claims));
  for (const [at, { request }] of claims.entries()) {
    const result = resultOf(ends[at]);
    if (result) results.set(request, result);
  }
}

/** undefined = the task was held: the request gets another one. */
const resultOf = (end: PromiseSettledResult<Conclusion> | undefined): Result | undefined =>
  end?.status === 'fulfilled' && end.value === 'held' ? undefined : (end as Result | undefined);
