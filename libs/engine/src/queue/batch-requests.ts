import type { Claimed } from '@pipeline/store';
import { hashToken } from '../context/token-hash.ts';
import { claimTokenOf } from './claim-key.ts';
import type { BatchedClaim, ClaimRequest, Conclusion, NewClaim } from './claim-types.ts';

/** The task of a request, null for none, or its error. */
export type ClaimResult = PromiseSettledResult<BatchedClaim | null>;

/** A request with the token of its next claim. */
export interface RequestToken {
  request: ClaimRequest;
  claimToken: string;
  tokenHash: string;
}

/** The requests of a batch: their results, and the token of the next claim of each. */
export class BatchRequests {
  readonly #results = new Map<ClaimRequest, ClaimResult>();
  /** Generation of the next token of its key; absent = 0. */
  readonly #generations = new Map<ClaimRequest, number>();

  /** @returns undefined for a request that found no task. */
  resultOf(request: ClaimRequest): ClaimResult | undefined {
    return this.#results.get(request);
  }

  /** Those of the requests that have no result. */
  waitingOf(requests: readonly ClaimRequest[]): ClaimRequest[] {
    return requests.filter((request) => !this.#results.has(request));
  }

  settle(request: ClaimRequest, result: ClaimResult): void {
    this.#results.set(request, result);
  }

  reject(request: ClaimRequest, reason: unknown): void {
    this.settle(request, { status: 'rejected', reason });
  }

  /** A request without a task keeps its token: a retry looks for it. */
  tokenOf(request: ClaimRequest): RequestToken {
    const claimToken = claimTokenOf(request, this.#generations.get(request) ?? 0);
    return { request, claimToken, tokenHash: hashToken(claimToken) };
  }

  /** The next claim of the request gets the token of this generation of its key. */
  continueAt(request: ClaimRequest, generation: number): void {
    this.#generations.set(request, generation);
  }

  /** The next claim of the request gets another token. */
  claimed({ request, claimToken }: RequestToken, row: Claimed): NewClaim {
    this.#generations.set(request, (this.#generations.get(request) ?? 0) + 1);
    return { request, claimToken, row };
  }

  /** A request whose task is held keeps waiting: it may get another one. */
  conclude(request: ClaimRequest, end: PromiseSettledResult<Conclusion>): void {
    if (end.status === 'rejected') this.settle(request, end);
    else if (end.value !== 'held') this.settle(request, { status: 'fulfilled', value: end.value });
  }
}
