/** Work under the same key runs one after the other; different keys do not wait for each other. */
export function createLock() {
  const tails = new Map<number, Promise<unknown>>();
  return async <T>(key: number, work: () => Promise<T>): Promise<T> => {
    const before = tails.get(key) ?? Promise.resolve();
    const mine = before.then(work, work);
    const settled = mine.catch(() => undefined);
    tails.set(key, settled);
    try {
      return await mine;
    } finally {
      if (tails.get(key) === settled) tails.delete(key);
    }
  };
}
