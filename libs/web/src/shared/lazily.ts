/**
 * Returns a function that creates a value at its first call. The first object of Intl in a page takes 30 ms, because the
 * browser lists its locales then: created with their modules, they would delay the first view, which needs none.
 */
export function lazily<Value>(create: () => Value): () => Value {
  let value: Value | undefined;
  return () => {
    value ??= create();
    return value;
  };
}
