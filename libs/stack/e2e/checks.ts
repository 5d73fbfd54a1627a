import { isDeepStrictEqual } from 'node:util';

const SLOW_FACTOR = 5;

/** Prints one line a check, and remembers whether all were good. */
export class Checks {
  #failed = 0;
  readonly #figures = new Map<string, { values: number[]; unit: string }>();

  get failed(): number {
    return this.#failed;
  }

  section(name: string): void {
    process.stdout.write(`\n${name}\n`);
  }

  note(text: string): void {
    process.stdout.write(`      ${text}\n`);
  }

  /** Records a measurement for the table at the end; of several runs the median is printed. */
  figure(what: string, value: number, unit: string): void {
    const figure = this.#figures.get(what) ?? { values: [], unit };
    figure.values.push(value);
    this.#figures.set(what, figure);
  }

  printFigures(): void {
    if (this.#figures.size === 0) return;
    this.section('figures (median, smallest to largest, runs)');
    for (const [what, { values, unit }] of this.#figures) {
      const sorted = values.toSorted((a, b) => a - b);
      const [least, most] = [sorted[0] ?? 0, sorted.at(-1) ?? 0];
      this.note(
        `${what}: ${median(sorted).toFixed(1)} ${unit} (${least.toFixed(1)} to ${most.toFixed(1)}, ${values.length})`,
      );
    }
  }

  that(what: string, isSo: boolean, otherwise: unknown = ''): void {
    if (!isSo) this.#failed += 1;
    const detail = isSo || otherwise === '' ? '' : `: ${typeof otherwise === 'string' ? otherwise : show(otherwise)}`;
    process.stdout.write(`${isSo ? 'ok   ' : 'FAIL '} ${what}${detail}\n`);
  }

  /**
   * A time against what it should be on a quiet machine. Above it the check reports slow; only several times over it is a
   * failure, for a busy machine is none.
   */
  within(what: string, ms: number, boundMs: number): void {
    const failed = ms > boundMs * SLOW_FACTOR;
    if (failed) this.#failed += 1;
    const verdict = failed ? 'FAIL ' : ms > boundMs ? 'slow ' : 'ok   ';
    process.stdout.write(`${verdict} ${what} within ${seconds(boundMs)}: ${seconds(ms)}\n`);
  }

  equal(what: string, found: unknown, wanted: unknown): void {
    this.that(what, isDeepStrictEqual(found, wanted), `${show(found)} instead of ${show(wanted)}`);
  }

  /** Every difference is a line of its own. */
  none(what: string, problems: readonly string[]): void {
    this.that(what, problems.length === 0, problems.map((problem) => `\n        ${problem}`).join(''));
  }
}

const show = (value: unknown): string => JSON.stringify(value);

/** Returns the median of a sorted list; 0 for an empty one. */
export function median(sorted: readonly number[]): number {
  const middle = Math.floor(sorted.length / 2);
  const [below = 0, above = 0] = [sorted[sorted.length % 2 === 0 ? middle - 1 : middle], sorted[middle]];
  return (below + above) / 2;
}

export const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
