import { parseIssueNumber, parseSlug, type Slug, slugKey } from '../slugs.ts';
import { cappedText, collapsedText } from '../text/pattern.ts';

/** An issue that a text names as a dependency. */
export interface TextDependency {
  repo: Slug;
  number: number;
}

/** The location of a text: `#12` means an issue there, and addresses on the same host are recognised. */
export interface TextHome {
  repo: Slug;
  number: number;
  /** Address of the issue on its host. */
  url: string;
}

/** Maximum number of dependencies of one issue. */
export const MAX_TEXT_DEPENDENCIES = 50;

/** Patterns read lines with collapsed white space, so a blank is one space. Every repetition is bounded. */
const NAME = '[A-Za-z0-9._-]{1,100}';
/** `#12`, `owner/name#12` or an address; nothing that continues as a longer word. */
const REF = `(?:(?:${NAME}/${NAME})?#\\d{1,10}|https?://[^\\s<>()\\[\\]"',;]{1,500}/(?:issues|pull)/\\d{1,10})(?![\\w/]|-\\w)`;
/** Plain, in brackets, or as a link: `[#12](…)`, `<https://…>`, `(#12)`. */
const WRAPPED = `[<(\\[]{0,2}(${REF})(?:\\]\\([^)\\s]{0,500}\\))?[\\])>]{0,2}`;
const ITEM = new RegExp(`^ ?(?:[-*+]|\\d{1,9}[.)]) \\[([ xX])\\] ${WRAPPED}`);
const VERB =
  /\b(?:depend(?:s|ed|ing|ent)? (?:up)?on|blocked (?:by|on)|wait(?:s|ing)? (?:for|on))(?: ?[:*_]{1,10})? ?/gi;
/** Before a verb. */
const NEGATION = /(?:\b(?:not|never|no longer|cannot)|n['’]t) $/i;
const NEGATION_LENGTH = 'no longer '.length + 1;
/** One item of the list after a verb, with its separator. */
const LISTED = new RegExp(`(?:(?: ?,)? ?(?:and|or|&|\\+) | ?[,;] ?| )?(?:issues? )?${WRAPPED}`, 'iy');

/**
 * The dependencies named in a text: open items of task lists that begin with an issue (`- [ ] #12`), and phrases such
 * as "depends on #12, #13" and "blocked by owner/name#14". A ticked item is done, whatever the host state. Comments,
 * code and quotations are ignored, and so is the issue itself.
 * @returns each once, in the order of the text, at most MAX_TEXT_DEPENDENCIES.
 */
export function dependenciesIn(text: string, home: TextHome): TextDependency[] {
  const found = new Map<string, TextDependency>();
  for (const line of ownWords(cappedText(text))) {
    for (const reference of referencesIn(line)) {
      const dependency = readReference(reference, home);
      if (!dependency) continue;
      const key = keyOf(dependency);
      if (key !== keyOf(home)) found.set(key, dependency);
    }
  }
  return [...found.values()].slice(0, MAX_TEXT_DEPENDENCIES);
}

const keyOf = ({ repo, number }: TextDependency): string => `${slugKey(repo)}#${number}`;

/** Most lines name no issue. */
const mayRefer = (line: string): boolean => line.includes('#') || line.includes('://');

function referencesIn(line: string): string[] {
  if (!mayRefer(line)) return [];
  const text = collapsedText(line);
  const [item, tick, first] = (text.includes('] ') && ITEM.exec(text)) || [];
  if (item !== undefined && tick !== ' ') return [];
  const listed = first === undefined ? [] : [first];
  return [...listed, ...[...text.matchAll(VERB)].flatMap((verb) => listBehind(text, verb))];
}

/** The references that follow a verb, unless it is negated. */
function listBehind(text: string, verb: RegExpExecArray): string[] {
  if (NEGATION.test(text.slice(Math.max(0, verb.index - NEGATION_LENGTH), verb.index))) return [];
  const references: string[] = [];
  LISTED.lastIndex = verb.index + verb[0].length;
  for (let found = LISTED.exec(text); found; found = LISTED.exec(text)) references.push(found[1] ?? '');
  return references;
}

function readReference(reference: string, home: TextHome): TextDependency | null {
  if (!/^https?:/i.test(reference)) {
    const [slug = '', digits = ''] = reference.split('#');
    return dependency(slug === '' ? home.repo : parseSlug(slug), digits);
  }
  const [url, own] = [URL.parse(reference), URL.parse(home.url)];
  if (!url || url.origin !== own?.origin) return null;
  const [, owner, name, , digits = ''] = url.pathname.split('/');
  return dependency(parseSlug(`${owner}/${name}`), digits);
}

function dependency(repo: Slug | null, digits: string): TextDependency | null {
  const number = parseIssueNumber(digits);
  return repo && number !== null ? { repo, number } : null;
}

/** The dependencies that an edit added and removed. */
export function dependencyChanges(
  before: string,
  after: string,
  home: TextHome,
): { added: TextDependency[]; removed: TextDependency[] } {
  const [old, fresh] = [dependenciesIn(before, home), dependenciesIn(after, home)];
  const without = (list: TextDependency[], other: TextDependency[]) => {
    const keys = new Set(other.map(keyOf));
    return list.filter((each) => !keys.has(keyOf(each)));
  };
  return { added: without(fresh, old), removed: without(old, fresh) };
}

/**
 * The lines of Markdown written by its author: without HTML comments, code blocks, code spans and quotations. Removed
 * text becomes empty, so lines keep their numbers. An unclosed comment or fence continues to the end, as it does when
 * rendered.
 */
export function ownWords(markdown: string): string[] {
  const reader: Reader = { fence: null, quoted: false, inList: false, blankBefore: true, inCode: false };
  const text = markdown.replace(/\r\n?/g, '\n').replace(/<!--[\s\S]*?(?:-->|$)/g, blanked);
  return text.split('\n').map((line) => readLine(reader, line));
}

/** Line breaks are kept, so that later text keeps its line. */
const blanked = (hidden: string): string => hidden.replace(/[^\n]/g, '');

interface Reader {
  /** The fence that opened the current code block. */
  fence: string | null;
  /** True = in a quotation, which plain lines continue. */
  quoted: boolean;
  inList: boolean;
  blankBefore: boolean;
  /** True = in an indented code block. */
  inCode: boolean;
}

const FENCE = /^\s*(?:(?:[-*+]|\d{1,9}[.)])\s+)?(`{3,}(?=[^`]*$)|~{3,})/;
const LIST_ITEM = /^\s*(?:[-*+]|\d{1,9}[.)])\s/;
/** Lines that may begin a block; most do not. */
const MARKED = /^\s*[-*+_#>`~\d]/;
const HEADING = /^ {0,3}(?:#{1,6}(?:\s|$)|(?:[-*_]\s*){3,}$)/;

function readLine(reader: Reader, line: string): string {
  if (reader.fence !== null) {
    if (closes(line, reader.fence)) reader.fence = null;
    return '';
  }
  const blank = line.trim() === '';
  const kept = blank ? '' : readBlock(reader, line);
  reader.blankBefore = blank;
  if (blank) reader.quoted = false;
  return kept;
}

function readBlock(reader: Reader, line: string): string {
  const marked = MARKED.test(line);
  if (marked) readQuote(reader, line);
  if (reader.quoted) return '';
  reader.inCode = isCode(reader, line);
  if (reader.inCode) return '';
  const item = marked && LIST_ITEM.test(line);
  // A list continues over indented lines, and ends at an unindented line that is no item.
  reader.inList = item || (reader.inList && (/^\s/.test(line) || !reader.blankBefore));
  const [, fence] = (marked && FENCE.exec(line)) || [];
  if (fence === undefined) return withoutSpans(line);
  reader.fence = fence;
  return '';
}

function readQuote(reader: Reader, line: string): void {
  if (/^\s*(?:(?:[-*+]|\d{1,9}[.)])\s+)?>/.test(line)) reader.quoted = true;
  else if (reader.quoted && (LIST_ITEM.test(line) || FENCE.test(line) || HEADING.test(line))) reader.quoted = false;
}

/** Four spaces begin code after an empty line, except in a list, whose items are indented too. */
const isCode = ({ inCode, inList, blankBefore }: Reader, line: string): boolean =>
  /^(?: {4}| {0,3}\t)/.test(line) && !inList && (inCode || blankBefore);

const closes = (line: string, fence: string): boolean => {
  const run = line.trim();
  return run.length >= fence.length && run === (fence[0] ?? '').repeat(run.length);
};

/**
 * Replaces code spans by a blank. A span ends with as many backticks as it began with; without an end the backticks are
 * plain. Linear: the runs of each length are found once.
 */
function withoutSpans(line: string): string {
  if (!line.includes('`')) return line;
  const runs = [...line.matchAll(/`+/g)].map(({ index, 0: run }) => ({ start: index, length: run.length }));
  const byLength = Map.groupBy(runs.toReversed(), ({ length }) => length);
  let [kept, end] = ['', 0];
  for (const { start, length } of runs) {
    if (start < end) continue;
    const alike = byLength.get(length) ?? [];
    while ((alike.at(-1)?.start ?? Number.POSITIVE_INFINITY) <= start) alike.pop();
    const closing = alike.at(-1);
    if (!closing) continue;
    kept += `${line.slice(end, start)} `;
    end = closing.start + length;
  }
  return kept + line.slice(end);
}
