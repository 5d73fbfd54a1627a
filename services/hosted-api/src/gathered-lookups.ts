/** Looks many keys up at once. @returns what there is of them, by key. */
export type LookUp<V> = (keys: readonly string[]) => Promise<ReadonlyMap<string, V>>;

interface Waiting<V> {
  key: string;
  resolve(found: V | undefined): void;
  reject(error: unknown): void;
}

/**
 * Look-ups that come in one turn of the event loop, or while one is under way, are gathered and made together. Each is
 * answered by a look-up that began after it was asked for, so nothing is ever answered from before; under load a
 * statement serves many.
 */
export class GatheredLookups<V> {
  readonly #lookUp: LookUp<V>;
  #waiting: Waiting<V>[] = [];
  #underWay = false;

  constructor(lookUp: LookUp<V>) {
    this.#lookUp = lookUp;
  }

  find(key: string): Promise<V | undefined> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ key, resolve, reject });
      if (!this.#underWay) void this.#run();
    });
  }

  /** Never rejects: those who wait are told. */
  async #run(): Promise<void> {
    this.#underWay = true;
    while (this.#waiting.length > 0) {
      await new Promise(setImmediate);
      const served = this.#waiting;
      this.#waiting = [];
      try {
        const found = await this.#lookUp([...new Set(served.map(({ key }) => key))]);
        for (const { key, resolve } of served) resolve(found.get(key));
      } catch (error) {
        for (const { reject } of served) reject(error);
      }
    }
    this.#underWay = false;
  }
}
