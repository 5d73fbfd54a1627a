import { Batcher } from '@pipeline/runtime';

/** Looks up many keys. @returns the values of the keys that exist, by key. */
export type LookUp<V> = (keys: readonly string[]) => Promise<ReadonlyMap<string, V>>;

/** Combines concurrent look-ups into one, each key once. */
export class GatheredLookups<V> {
  readonly #batcher: Batcher<string, V | undefined>;

  constructor(lookUp: LookUp<V>) {
    this.#batcher = new Batcher(async (keys) => {
      const found = await lookUp([...new Set(keys)]);
      return keys.map((key) => ({ status: 'fulfilled', value: found.get(key) }));
    });
  }

  find(key: string): Promise<V | undefined> {
    return this.#batcher.submit(key);
  }
}
