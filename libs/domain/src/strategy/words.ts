import { cappedText } from '../text/pattern.ts';

const MAX_NAME = 1_000;

/** A name in comparison form: case, spaces, `_` and `-` are ignored. */
export const nameKey = (name: string): string =>
  cappedText(name, MAX_NAME)
    .trim()
    .toLowerCase()
    .replace(/[\s_-]+/g, '-');

/** The names in both lists, as `entries` spells them. */
export function namedBy(entries: readonly string[], names: readonly string[]): string[] {
  const known = new Set(names.map(nameKey));
  return entries.filter((entry) => known.has(nameKey(entry)));
}

/** Words that any track may contain and that do not describe it. */
const EMPTY = new Set([
  'a',
  'and',
  'fix',
  'for',
  'improve',
  'in',
  'issue',
  'more',
  'of',
  'self',
  'si',
  'svc',
  'the',
  'to',
]);

/** The words of a text, in lower case and in the singular. */
export function wordsOf(...texts: readonly string[]): Set<string> {
  const words = texts.flatMap(
    (text) =>
      cappedText(text)
        .toLowerCase()
        .match(/[\p{L}\p{N}]+/gu) ?? [],
  );
  return new Set(words.map(singular).filter((word) => !EMPTY.has(word)));
}

const singular = (word: string): string => (word.length > 3 && /[^s]s$/.test(word) ? word.slice(0, -1) : word);

/** Prefix of themes that strategy derived from a category of findings, which is text of an agent. */
const MARK = 'agent report: ';

/** The theme for a category of findings, whose origin is visible in every issue with it. */
export const reportedTheme = (category: string, maxLength: number): string => (MARK + category).slice(0, maxLength);

/** A theme in the form used by charters and tracks. */
export const plainTheme = (theme: string | undefined): string =>
  theme === undefined ? '' : theme.startsWith(MARK) ? theme.slice(MARK.length) : theme;
