// node:crypto is pure computation; it is the only Node import of this package.
import { createHash } from 'node:crypto';
import { cappedText } from '../text/pattern.ts';

/** The rest of a message is not read: a pasted log must not cost more than an error line. */
const MAX_INPUT = 8_000;
const MAX_PATTERN = 500;

/**
 * Variable parts of error messages, most specific first: a later rule must not match a part of an earlier one. Every
 * repetition that can overlap with its neighbour is bounded, so the cost stays linear.
 */
const RULES: readonly [RegExp, string][] = [
  // biome-ignore lint/suspicious/noControlCharactersInRegex: terminal colours are what is to be removed.
  [/\u001b\[[0-9;]{0,20}[A-Za-z]/g, ''],
  [/\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b/gi, '<uuid>'],
  [/\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?/g, '<time>'],
  // An apostrophe inside a word ("can't") opens no quotation.
  [/"[^"\n]{0,400}"|`[^`\n]{0,400}`|(?<!\w)'[^'\n]{0,400}'(?!\w)|[“‘][^“‘”’\n]{0,400}[”’]/g, '<text>'],
  [/(?<![\w+.-])[a-z][a-z0-9+.-]{0,20}:\/\/[^\s<>)\]]+/gi, '<url>'],
  [/(?<![\w.@~+-])(?:[A-Za-z]:)?(?:[\w.@~+-]*[\\/])+[\w.@~+-]*/g, '<path>'],
  // A short commit id may consist of digits only, so hashes and numbers share one placeholder.
  [/\b(?=[a-f]{0,64}\d)[0-9a-f]{7,64}\b/gi, '<n>'],
  [/\b0x[0-9a-f]{1,32}\b|\d{1,400}(?:[.,]\d{1,400}){0,5}/gi, '<n>'],
];

/**
 * The pattern of an error message: its constant parts. Numbers, hashes, paths, quoted text, UUIDs and times become
 * placeholders. At most 500 characters (the wire's `errorPattern`).
 */
export function normalizeError(message: string): string {
  const varied = RULES.reduce((text, [pattern, name]) => text.replace(pattern, name), cappedText(message, MAX_INPUT));
  return cappedText(varied.replace(/\s+/g, ' ').trim(), MAX_PATTERN);
}

/** Identifies an error across issues and repos: 16 hexadecimal digits of the SHA-256 of its pattern. */
export const fingerprint = (message: string): string => fingerprintOfPattern(normalizeError(message));

/** The fingerprint of an existing pattern. */
export const fingerprintOfPattern = (pattern: string): string =>
  createHash('sha256').update(pattern).digest('hex').slice(0, 16);
