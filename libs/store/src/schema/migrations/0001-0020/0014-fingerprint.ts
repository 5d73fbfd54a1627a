import { createHash } from 'node:crypto';

const MAX_INPUT = 8_000;
const MAX_PATTERN = 500;

const RULES: readonly [RegExp, string][] = [
  // biome-ignore lint/suspicious/noControlCharactersInRegex: terminal colours are what is to be removed.
  [/\u001b\[[0-9;]{0,20}[A-Za-z]/g, ''],
  [/\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b/gi, '<uuid>'],
  [/\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?/g, '<time>'],
  // An apostrophe inside a word ("can't") opens nothing.
  [/"[^"\n]{0,400}"|`[^`\n]{0,400}`|(?<!\w)'[^'\n]{0,400}'(?!\w)|[“‘][^“‘”’\n]{0,400}[”’]/g, '<text>'],
  [/(?<![\w+.-])[a-z][a-z0-9+.-]{0,20}:\/\/[^\s<>)\]]+/gi, '<url>'],
  [/(?<![\w.@~+-])(?:[A-Za-z]:)?(?:[\w.@~+-]*[\\/])+[\w.@~+-]*/g, '<path>'],
  // A short commit id may consist of digits alone, so hashes and numbers share one name.
  [/\b(?=[a-f]{0,64}\d)[0-9a-f]{7,64}\b/gi, '<n>'],
  [/\b0x[0-9a-f]{1,32}\b|\d{1,400}(?:[.,]\d{1,400}){0,5}/gi, '<n>'],
];

/**
 * The fingerprint of an error message as migration 0014 computes it: 16 hexadecimal digits. A copy of the domain's
 * function, because a migration must give the same result in every later release.
 */
export function fingerprintOf0014(message: string): string {
  const varied = RULES.reduce((text, [pattern, name]) => text.replace(pattern, name), message.slice(0, MAX_INPUT));
  const normalized = varied.replace(/\s+/g, ' ').trim().slice(0, MAX_PATTERN);
  return createHash('sha256').update(normalized).digest('hex').slice(0, 16);
}
