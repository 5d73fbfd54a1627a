/**
 * Prepares external text for regular expressions. Every pattern over such text reads what these functions return:
 * bounded in length, with single spaces, so that a pattern needs no unbounded repetition of blanks.
 */

/** Number of characters that patterns read: the longest body that GitHub accepts. */
const MAX_PATTERN_TEXT = 65_536;

/** Maximum code units of a stored host text: more than any body that GitHub accepts. */
export const MAX_HOST_BODY = 262_144;
/** The same of a title, a name of a branch or label. */
export const MAX_HOST_LINE = 1_024;

/** The first characters of a text; a pair of surrogates is not split. */
export function cappedText(text: string, max: number = MAX_PATTERN_TEXT): string {
  if (text.length <= max) return text;
  const last = text.charCodeAt(max - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? max - 1 : max);
}

/** The last characters of a text; a pair of surrogates is not split. */
export function textTail(text: string, max: number): string {
  if (text.length <= max) return text;
  const start = text.length - max;
  const first = text.charCodeAt(start);
  return text.slice(first >= 0xdc00 && first < 0xe000 ? start + 1 : start);
}

/** Replaces every run of white space, line breaks included, by one space. Blanks at both ends are removed. */
export const collapsedText = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** The first characters of a text, with runs of white space collapsed to one space. */
export const patternText = (text: string, max: number = MAX_PATTERN_TEXT): string =>
  collapsedText(cappedText(text, max));

/** A text without the trailing characters that are listed. Linear, which `/[…]+$/` is not. */
export function withoutTrailing(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}
