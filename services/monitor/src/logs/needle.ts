import { NEWLINE } from './read-blocks.ts';

/** Octets of a block that are sampled: enough to distinguish common characters from rare ones. */
const SAMPLE = 4 * 1024;
/** Cost of one check of a position, as a multiple of passing over one character that stops the search. */
const LOOK = 15;

/**
 * A text of printable ASCII that is looked for in blocks of octets without regard to case. Octets are searched several
 * times as fast as decoded text by a pattern. So a part of the text with two letters is looked for, in each of its four
 * spellings, and the whole is compared only where that part stands.
 */
export class Needle {
  readonly #lower: string;
  readonly #octets: { lower: Buffer; upper: Buffer };

  constructor(text: string) {
    this.#lower = text.toLowerCase();
    this.#octets = { lower: Buffer.from(this.#lower), upper: Buffer.from(text.toUpperCase()) };
  }

  /** Finds the starts of the lines that hold the text, in no order. Every line of the block ends with its newline. */
  lines(bytes: Buffer): Set<number> {
    const { offset, part } = cheapestPart(this.#lower, bytes.subarray(0, SAMPLE));
    const starts = new Set<number>();
    for (const spelling of spellingsOf(part)) {
      for (let at = bytes.indexOf(spelling); at >= 0; at = bytes.indexOf(spelling, at + 1)) {
        if (!this.#stands(bytes, at - offset)) continue;
        starts.add(bytes.lastIndexOf(NEWLINE, at) + 1);
        at = bytes.indexOf(NEWLINE, at);
      }
    }
    return starts;
  }

  #stands(bytes: Buffer, start: number): boolean {
    const { lower, upper } = this.#octets;
    for (let n = 0; n < lower.length; n += 1) {
      const octet = bytes[start + n];
      if (octet !== lower[n] && octet !== upper[n]) return false;
    }
    return true;
  }
}

/**
 * The part with at most two letters that is found the fastest: its first character stops the search wherever it stands,
 * its others make it rare. Many a part stands in every line of a log, so a sample shows which.
 */
function cheapestPart(text: string, sample: Buffer): { offset: number; part: string } {
  const share = sharesIn(sample);
  let best = { offset: 0, part: text, cost: Number.POSITIVE_INFINITY };
  for (let offset = 0; offset < text.length; offset += 1) {
    const [part = ''] = /[^a-z]*(?:[a-z][^a-z]*){0,2}/y.exec(text.slice(offset)) ?? [];
    const [first = 0, ...rest] = [...part].map(share);
    const cost = first * (1 + LOOK * rest.reduce((product, one) => product * one, 1));
    if (cost < best.cost) best = { offset, part, cost };
  }
  return best;
}

/** Returns the share of a character in the sample, in either case. */
function sharesIn(sample: Buffer): (char: string) => number {
  const counts = new Uint16Array(256);
  for (const octet of sample) counts[octet] = (counts[octet] ?? 0) + 1;
  const countOf = (char: string) => counts[char.charCodeAt(0)] ?? 0;
  // One that does not occur in the sample may do so elsewhere.
  return (char) => (countOf(char) + countOf(char.toUpperCase()) + 1) / (sample.length + 1);
}

const spellingsOf = (part: string): string[] =>
  [...part].reduce<string[]>(
    (all, char) => all.flatMap((text) => [...new Set([char, char.toUpperCase()])].map((one) => text + one)),
    [''],
  );
