/** Runs `work` in so many lanes at once, each over and over until it gets false. */
export async function inLanes(lanes: number, work: (lane: number) => Promise<boolean>): Promise<void> {
  const one = async (lane: number) => {
    let more = true;
    while (more) more = await work(lane);
  };
  await Promise.all(Array.from({ length: lanes }, (_, lane) => one(lane)));
}

/** Hands out 0 to items - 1, then undefined. */
export function counter(items: number): () => number | undefined {
  let next = 0;
  return () => (next < items ? next++ : undefined);
}

/** @throws Error saying what was counted, when it is not what was wanted. */
export function requireEqual(what: string, found: number, wanted: number): void {
  if (found !== wanted) throw new Error(`${what}: ${found} instead of ${wanted}`);
}
