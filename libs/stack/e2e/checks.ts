import { isDeepStrictEqual } from 'node:util';

const SLOW_FACTOR = 5;

/** Prints one line a check, and remembers whether all were good. */
export class Checks {
  #failed = 0;

  get failed(): number {
    return this.#failed;
  }

  section(name: string): void {
    process.stdout.write(`\n${name}\n`);
  }

  note(text: string): void {
    process.stdout.write(`      ${text}\n`);
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

export const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
