/** Serves requests together: one result for each, in order. A failing one does not affect the others. */
export type ServeBatch<Q, A> = (requests: readonly Q[]) => Promise<readonly PromiseSettledResult<A>[]>;

interface Waiting<Q, A> {
  request: Q;
  resolve(result: A): void;
  reject(error: unknown): void;
}

/** Maximum number of requests in a batch. */
const MAX_BATCH = 64;

/**
 * Gathers the requests of one lane that arrive in one turn of the event loop, or while a batch of the lane is in flight,
 * and serves them as one batch. A batch begins after its last request arrived, so no result is older than its request;
 * under load one statement serves many requests. Lanes do not wait for each other.
 */
export class Batcher<Q, A> {
  readonly #serve: ServeBatch<Q, A>;
  /** Waiting requests by lane; a lane is present while one of its batches is in flight. */
  readonly #lanes = new Map<string, Waiting<Q, A>[]>();

  constructor(serve: ServeBatch<Q, A>) {
    this.#serve = serve;
  }

  submit(request: Q, lane = ''): Promise<A> {
    return new Promise((resolve, reject) => {
      const waiting = { request, resolve, reject };
      const known = this.#lanes.get(lane);
      if (known) known.push(waiting);
      else void this.#run(lane, waiting);
    });
  }

  /** Never rejects: errors go to the waiting requests. */
  async #run(lane: string, first: Waiting<Q, A>): Promise<void> {
    const waiting = [first];
    this.#lanes.set(lane, waiting);
    while (waiting.length > 0) {
      await new Promise(setImmediate);
      const batch = waiting.splice(0, MAX_BATCH);
      try {
        const results = await this.#serve(batch.map(({ request }) => request));
        for (const [at, { resolve, reject }] of batch.entries()) {
          const result = results[at];
          if (result?.status === 'fulfilled') resolve(result.value);
          else reject(result?.reason ?? new Error('the batch returned no result for the request'));
        }
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#lanes.delete(lane);
  }
}
