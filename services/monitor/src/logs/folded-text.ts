/**
 * A text that is searched for without regard to case, in time proportional to what is searched (Knuth, Morris, Pratt):
 * a pattern compares a text such as `aaa…b` again from every beginning. Case is compared as a regular expression with
 * the flag `i` does, where no letter of ASCII equals one outside of it.
 */
export class FoldedText {
  readonly #units: readonly number[];
  /** Length of the longest match that a match ends with, by the length of the latter. */
  readonly #fallbacks: readonly number[];

  constructor(text: string) {
    this.#units = Array.from({ length: text.length }, (_, index) => foldedUnit(text.charCodeAt(index)));
    this.#fallbacks = fallbacksOf(this.#units);
  }

  isIn(text: string): boolean {
    const [units, fallbacks] = [this.#units, this.#fallbacks];
    let matched = 0;
    for (let index = 0; index < text.length && matched < units.length; index += 1) {
      const unit = foldedUnit(text.charCodeAt(index));
      while (matched > 0 && unit !== units[matched]) matched = fallbacks[matched] ?? 0;
      if (unit === units[matched]) matched += 1;
    }
    return matched === units.length;
  }
}

function fallbacksOf(units: readonly number[]): number[] {
  const fallbacks = [0, 0];
  let matched = 0;
  for (let index = 1; index < units.length; index += 1) {
    while (matched > 0 && units[index] !== units[matched]) matched = fallbacks[matched] ?? 0;
    if (units[index] === units[matched]) matched += 1;
    fallbacks.push(matched);
  }
  return fallbacks;
}

/** Canonicalize of ECMAScript, for patterns without the flags `u` and `v`. */
function foldedUnit(unit: number): number {
  if (unit < 128) return unit >= 97 && unit <= 122 ? unit - 32 : unit;
  const upper = String.fromCharCode(unit).toUpperCase();
  if (upper.length !== 1) return unit;
  const folded = upper.charCodeAt(0);
  return folded < 128 ? unit : folded;
}
