/** Returns for each layer the sums of itself and those below it; the lowest layer is the first. */
export function stackedSums(layers: readonly (readonly number[])[]): number[][] {
  const sums: number[][] = [];
  for (const values of layers) {
    const below = sums.at(-1);
    sums.push(values.map((value, index) => value + (below?.[index] ?? 0)));
  }
  return sums;
}
