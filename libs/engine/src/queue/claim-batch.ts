import { type CheckedClaim, claimForWorkers, claimTasks, claimWithinLimits, isUniqueViolation } from '@pipeline/store';
import type { Engine } from '../context/context.ts';
import { isDayUsedUp } from '../costs/holds.ts';
import { unknownWorker } from '../presence/own-worker.ts';
import { BatchRequests, type ClaimResult, type RequestToken } from './batch-requests.ts';
import { findKeyState } from './claim-key.ts';
import type { ClaimRequest, NewClaim } from './claim-types.ts';
import { conclude } from './conclude-claims.ts';

const NOTHING: ClaimResult = { status: 'fulfilled', value: null };

/** Tasks of issues over a limit that was lowered meanwhile are held; at most this many per claim. */
const MAX_HELD = 20;

/**
 * Claims tasks for concurrent requests of a tenant with the same types and repos: one statement checks the workers and
 * claims all tasks, one transaction records the claims. In a tenant with limited repos each request then claims
 * separately. A request and its retries in one batch get one result.
 * @returns the result of each, in order. A failing one does not affect the others.
 */
export async function claimBatch(engine: Engine, requests: readonly ClaimRequest[]): Promise<ClaimResult[]> {
  const distinct = new Map(requests.map((request) => [keyOf(request), request]));
  const batch = await new ClaimBatch(engine, [...distinct.values()]).claim();
  return requests.map((request) => batch.resultOf(distinct.get(keyOf(request)) ?? request) ?? NOTHING);
}

/** Equal for the retries of one claim. */
const keyOf = (request: ClaimRequest): ClaimRequest | string =>
  request.claimSecret === undefined ? request : `${request.workerId} ${request.tokenId} ${request.claimSecret}`;

/** Result of the first statement of a batch. */
interface Checked {
  /** Requests that may claim a task and have none yet, although there may be one. */
  waiting: ClaimRequest[];
  /** Agents whose compared tasks are claimed; empty while there is no such task. */
  agents: readonly string[];
  /** The tenant has limited repos, so each claim is one of its own: it is counted under a lock. */
  isLimited: boolean;
}

class ClaimBatch {
  readonly #engine: Engine;
  readonly #requests: readonly ClaimRequest[];
  readonly #isRetry: boolean;
  readonly #batch = new BatchRequests();

  /** @param isRetry of one request that lost a race for its token. A second race fails it: a retry never retries again. */
  constructor(engine: Engine, requests: readonly ClaimRequest[], isRetry = false) {
    this.#engine = engine;
    this.#requests = requests;
    this.#isRetry = isRetry;
  }

  async claim(): Promise<BatchRequests> {
    await this.#settling(this.#requests, async () => {
      const { tenantId, repoIds } = this.#order;
      const isOpen = repoIds?.length !== 0 && !(await isDayUsedUp(this.#engine, tenantId));
      const { waiting, agents, isLimited } = await this.#claimChecked(isOpen);
      if (!isOpen) return;
      if (!isLimited) return this.#claimInRounds(claimTasks, waiting, agents);
      const alone = (request: ClaimRequest) => () => this.#claimInRounds(claimWithinLimits, [request], agents);
      await Promise.all(waiting.map((request) => this.#settling([request], alone(request))));
    });
    return this.#batch;
  }

  /** Values that the requests have in common. */
  get #order() {
    const [first] = this.#requests;
    if (!first) throw new RangeError('a batch of no claims');
    const { tenantId, taskTypes, agents = [], repoIds } = first;
    return { tenantId, taskTypes, agents, repoIds };
  }

  /** Checks all requests, and claims a task for each that may have one and for which there is one. */
  async #claimChecked(isOpen: boolean): Promise<Checked> {
    const tokens = this.#requests.map((request) => this.#batch.tokenOf(request));
    const answers = await this.#checkAndClaim(tokens, isOpen);
    const claims: NewClaim[] = [];
    const repeated: ClaimRequest[] = [];
    const without: ClaimRequest[] = [];
    for (const { token, answer } of answers) {
      const { request } = token;
      if (!answer.is_own) this.#batch.reject(request, unknownWorker(request.workerId));
      else if (answer.task) claims.push(this.#batch.claimed(token, answer.task));
      else if (answer.is_repeated) repeated.push(request);
      else without.push(request);
    }
    const unclaimed = await this.#repeatClaims(repeated);
    await this.#conclude(claims);
    const held = this.#batch.waitingOf(claims.map(({ request }) => request));
    const isLimited = answers.some(({ answer }) => answer.is_limited);
    // While some find a task, another claim may have taken those of the others.
    const others = claims.length > 0 || isLimited ? [...without, ...unclaimed] : unclaimed;
    const draining = new Set(answers.flatMap(({ token, answer }) => (answer.is_draining ? [token.request] : [])));
    return {
      waiting: [...held, ...others.filter((request) => !draining.has(request))],
      agents: answers.some(({ answer }) => answer.has_compared_tasks) ? this.#order.agents : [],
      isLimited,
    };
  }

  async #checkAndClaim(
    tokens: readonly RequestToken[],
    isOpen: boolean,
  ): Promise<{ token: RequestToken; answer: CheckedClaim }[]> {
    const claimers = tokens.map(({ request, tokenHash }) => ({
      workerId: request.workerId,
      tokenId: request.tokenId ?? null,
      tokenHash,
      repeats: request.claimSecret === undefined ? null : tokenHash,
    }));
    const { leaseMs } = this.#engine.settings();
    const { tenantId, ...order } = this.#order;
    const input = { ...order, claimers, leaseMs, isOpen };
    const answers = await claimForWorkers(this.#engine.store.db, tenantId, input);
    return tokens.flatMap((token, at) => {
      const answer = answers[at];
      return answer ? [{ token, answer }] : [];
    });
  }

  /**
   * Answers the requests that repeat a valid claim with the same task and token. Records for the others how often their
   * key was used. @returns those.
   */
  async #repeatClaims(repeated: readonly ClaimRequest[]): Promise<ClaimRequest[]> {
    const left: ClaimRequest[] = [];
    for (const request of repeated) {
      const state = await findKeyState(this.#engine, request);
      if ('next' in state) {
        this.#batch.continueAt(request, state.next);
        left.push(request);
        continue;
      }
      await this.#conclude([{ request, ...state }]);
      if (this.#batch.resultOf(request) === undefined) this.#batch.settle(request, NOTHING);
    }
    return left;
  }

  /** Repeats until all have a task or there is none. Requests whose task was held, or claimed by others, are repeated. */
  async #claimInRounds(
    claimNext: typeof claimTasks,
    requests: readonly ClaimRequest[],
    agents: readonly string[],
  ): Promise<void> {
    let waiting = requests;
    for (let tries = 0; tries <= MAX_HELD && waiting.length > 0; tries += 1) {
      const claims = await this.#claimRound(claimNext, waiting, agents);
      if (claims.length === 0) return;
      await this.#conclude(claims);
      waiting = this.#batch.waitingOf(waiting);
    }
  }

  /** @returns a claim for each request for which there is a task. */
  async #claimRound(
    claimNext: typeof claimTasks,
    requests: readonly ClaimRequest[],
    agents: readonly string[],
  ): Promise<NewClaim[]> {
    const tokens = requests.map((request) => this.#batch.tokenOf(request));
    const byHash = new Map(tokens.map((token) => [token.tokenHash, token]));
    const claimers = tokens.map(({ request, tokenHash }) => ({ workerId: request.workerId, tokenHash }));
    const { leaseMs } = this.#engine.settings();
    const { tenantId, ...order } = this.#order;
    const rows = await claimNext(this.#engine.store.db, tenantId, { ...order, agents, claimers, leaseMs });
    return rows.flatMap((row) => {
      const token = byHash.get(row.claim_token_hash);
      return token ? [this.#batch.claimed(token, row)] : [];
    });
  }

  /** Records the claims. Each request gets its result, except those whose task is held. */
  async #conclude(claims: readonly NewClaim[]): Promise<void> {
    if (claims.length === 0) return;
    const ends = await Promise.allSettled(conclude(this.#engine, claims));
    for (const [at, { request }] of claims.entries()) {
      const end = ends[at];
      if (end) this.#batch.conclude(request, end);
    }
  }

  /**
   * Does the work; if it fails, the requests without a result fail with it. After a race of attempts of one claim, one has the
   * task, and a retry of the other finds it.
   */
  async #settling(requests: readonly ClaimRequest[], work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (reason) {
      const mayRetry = !this.#isRetry && isUniqueViolation(reason, 'runs_by_token');
      const retry = async (request: ClaimRequest) => {
        const again = await new ClaimBatch(this.#engine, [request], true).claim();
        this.#batch.settle(request, again.resultOf(request) ?? NOTHING);
      };
      const waiting = this.#batch.waitingOf(requests);
      if (mayRetry) await Promise.all(waiting.map(retry));
      else for (const request of waiting) this.#batch.reject(request, reason);
    }
  }
}
