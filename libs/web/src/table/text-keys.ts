import { lazily } from '../shared/lazily.ts';

const collator = lazily(() => new Intl.Collator('en', { numeric: true, sensitivity: 'base' }));

/** Compares texts by the alphabet, without case and accents; numbers in them by size. */
export const compareTexts = (a: string, b: string): number => collator().compare(a, b);

const [FIRST, LAST, ZERO, NINE] = [' ', '~', '0', '9'].map((character) => character.charCodeAt(0)) as [
  number,
  number,
  number,
  number,
];
/** Longer texts have no key. */
const MOST = 255;

/** Place of each printable ASCII character in the alphabet, from 1; characters that are equal in it have one place. */
const places = lazily(() => {
  const characters = Array.from({ length: LAST - FIRST + 1 }, (_, index) => String.fromCharCode(FIRST + index));
  const found = new Uint8Array(LAST + 1);
  let place = 0;
  for (const [index, character] of characters.sort(compareTexts).entries()) {
    if (index === 0 || compareTexts(characters[index - 1] ?? '', character) !== 0) place += 1;
    found[character.charCodeAt(0)] = place;
  }
  return found;
});

const isDigit = (code: number): boolean => code >= ZERO && code <= NINE;

/** The key that is being made. A digit alone takes three places. */
const key = new Uint8Array(3 * MOST);
let length = 0;

const put = (place: number): void => {
  key[length] = place;
  length += 1;
};

/**
 * Adds the number that begins at an index: the place of digits, how many there are without leading zeros, and these. The
 * number with more digits is larger. @returns the index after it.
 */
function putNumber(text: string, from: number): number {
  let end = from + 1;
  while (isDigit(text.charCodeAt(end))) end += 1;
  let first = from;
  while (first < end - 1 && text.charCodeAt(first) === ZERO) first += 1;
  put(places()[ZERO] ?? 0);
  put(end - first);
  for (let at = first; at < end; at += 1) put(text.charCodeAt(at));
  return end;
}

/**
 * Returns a key of a text: plain comparison of keys gives the order of `compareTexts`, at a tenth of its cost. Undefined =
 * the text is long, or not of printable ASCII only: for the others only the collator knows the order.
 */
export function textKey(text: string): string | undefined {
  if (text.length > MOST) return undefined;
  const placeOf = places();
  length = 0;
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    if (code < FIRST || code > LAST) return undefined;
    if (isDigit(code)) at = putNumber(text, at);
    else {
      put(placeOf[code] ?? 0);
      at += 1;
    }
  }
  return String.fromCharCode.apply(null, key.subarray(0, length) as unknown as number[]);
}
