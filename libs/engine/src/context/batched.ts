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
