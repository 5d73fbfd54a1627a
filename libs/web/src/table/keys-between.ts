/** Returns the keys from one to the other, both included, whichever comes first. */
export function keysBetween(all: readonly string[], from: string, to: string): readonly string[] {
  const [a, b] = [all.indexOf(from), all.indexOf(to)];
  if (b < 0) return [];
  return a < 0 ? [to] : all.slice(Math.min(a, b), Math.max(a, b) + 1);
}
