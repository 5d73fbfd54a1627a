import type { Store } from '@pipeline/store';
import type { TestDatabase } from '@pipeline/testing';

interface Cost<T> {
  result: T;
  statements: number;
  /** Round trips: statements that are sent together count once. */
  packets: number;
}

/** A store that counts what it sends. Close it before the test ends. */
export function countingStore(database: TestDatabase): { store: Store; costOf<T>(work: Promise<T>): Promise<Cost<T>> } {
  const packets: string[][] = [];
  let current: string[] | null = null;
  const store = database.open({
    onStatement: (text) => {
      if (current === null) {
        current = [];
        packets.push(current);
        // As the store's client holds its socket (statement-client.ts).
        process.nextTick(() => {
          current = null;
        });
      }
      current.push(text);
    },
  });
  return {
    store,
    async costOf(work) {
      packets.length = 0;
      const result = await work;
      return { result, statements: packets.flat().length, packets: packets.length };
    },
  };
}
