import { Batcher } from './batcher.ts';

/** Looks many keys up at once. @returns what there is of them, by key. */
export type LookUp<V> = (keys: readonly string[]) => Promise<ReadonlyMap<string, V>>;

/** Look-ups of one moment are made together, each key once. */
export class GatheredLookups<V> {
  readonly #batcher: Batcher<string, V | undefined>;

  constructor(lookUp: LookUp<V>) {
    this.#batcher = new Batcher(async (keys) => {
      const found = await lookUp([...new Set(keys)]);
      return keys.map((key) => ({ status: 'fulfilled', value: found.get(key) }));
    });
  }

  find(key: string): Promise<V | undefined> {
    return this.#batcher.ask(key);
  }
}
