import { Batcher, type ServeBatch } from '@pipeline/runtime/batcher';
import type { Engine } from './context.ts';

/** @returns the batcher of an engine, which is created at its first use; it holds the waiting requests only. */
export function batchedByEngine<Q, A>(
  serve: (engine: Engine, requests: readonly Q[]) => ReturnType<ServeBatch<Q, A>>,
): (engine: Engine) => Batcher<Q, A> {
  const batchers = new WeakMap<Engine, Batcher<Q, A>>();
  return (engine) => {
    const known = batchers.get(engine);
    if (known) return known;
    const batcher = new Batcher<Q, A>((requests) => serve(engine, requests));
    batchers.set(engine, batcher);
    return batcher;
  };
}

/**
 * Serves requests together; if that fails, each alone, so that one that cannot be served does not keep the others from it.
 * @param isFinal whether an error holds for each of them.
 */
export async function servedApartIfFailed<Q, A>(
  requests: readonly Q[],
  serve: (requests: readonly Q[]) => Promise<readonly A[]>,
  isFinal: (error: unknown) => boolean = () => false,
): Promise<readonly PromiseSettledResult<A>[]> {
  try {
    const answers = await serve(requests);
    return answers.map((value) => ({ status: 'fulfilled', value }));
  } catch (error) {
    if (requests.length === 1 || isFinal(error)) throw error;
    return Promise.allSettled(requests.map(async (request) => (await serve([request]))[0] as A));
  }
}
