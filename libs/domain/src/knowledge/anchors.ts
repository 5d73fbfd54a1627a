import { cappedText, withoutTrailing } from '../text/pattern.ts';

/** References in a text that a repo may contain, most specific first. */
export interface Anchors {
  /** Paths and file names as written in the text. */
  paths: string[];
  /** Code identifiers: camelCase, snake_case, text in backticks. */
  symbols: string[];
  /** Words of prose with their weights. */
  words: { word: string; weight: number }[];
}

interface AnchorSource {
  title: string;
  body: string;
  labels: readonly string[];
}

const MAX_TEXT = 20_000;
const MAX_TITLE = 1_000;
const MAX_NAME = 100;
const MAX_PATHS = 20;
const MAX_SYMBOLS = 10;
const MAX_WORDS = 12;

const WEIGHT = { title: 3, label: 2, body: 1 } as const;

/** Bounded repetitions: the cost is linear for any input. */
const URL = /(?<![\w+.-])[a-z][a-z0-9+.-]{1,20}:\/\/[^\s<>)\]]+/gi;
const PATH = /(?<![\w/.@+-])(?:\.{0,2}\/)?(?:[\w.@+-]{1,100}\/){1,20}[\w.@+-]{1,100}/g;
const FILE = /(?<![\w/.@-])[\w-]{1,80}(?:\.[\w-]{1,40}){0,3}\.[a-z][a-z0-9]{0,4}(?![\w/])/gi;
const QUOTED = /`([^`\n]{2,100})`/g;
const NAME = /\b(?:[a-z]+[A-Z]\w{1,80}|[A-Z][a-z0-9]+[A-Z]\w{0,80}|[A-Za-z][A-Za-z0-9]*_\w{1,80})\b/g;
const WORD = /[\p{L}\p{N}]{3,40}/gu;

/** File extensions; without the list every "e.g." and every host name would match. */
const EXTENSIONS = new Set(
  (
    'bash c cc cfg conf cpp cs css csv dart ex go gradle graphql h hpp html ini java js json jsx kt lua md mjs cjs mts ' +
    'cts php pl proto properties ps1 py rb rs rst scala scss sh sql svelte swift tf toml ts tsx txt vue xml yaml yml'
  ).split(' '),
);

/** Words that occur in every issue, or in every path. */
const COMMON = new Set(
  (
    'about add added adding after again all also although always and another any are because been before being below ' +
    'between both but bug can cannot change changes could currently did does done during each either else error even ' +
    'every example expected feature file files fix fixed fixes for from get gets getting give given had has have having ' +
    'help here how however implement improve index into issue its just let lib libs like main make makes making may ' +
    'might more most must need needs new not note now off once one only onto open other our out over own please ' +
    'problem request same see set shall should since some src still such support take test tests than that the their ' +
    'them then there these they this those through time too two under until update use used user users using very want ' +
    'was way were what when where which while who why will with within without work works would you your'
  ).split(' '),
);

/** Paths in repo form: no leading "./" or "/", no line number. */
const cleanPath = (path: string): string => withoutTrailing(path.replace(/^(?:\.{0,2}\/)+/, ''), '.:');

const isFile = (name: string): boolean => EXTENSIONS.has(name.slice(name.lastIndexOf('.') + 1).toLowerCase());

/**
 * Extracts anchors from an issue: a pure function in linear time, over the first 20,000 characters of its body. At most
 * 20 paths, 10 code identifiers and 12 words.
 */
export function extractAnchors(source: AnchorSource): Anchors {
  const title = cappedText(source.title, MAX_TITLE);
  const body = cappedText(source.body, MAX_TEXT).replace(URL, ' ');
  const labels = cappedText(source.labels.filter((label) => !label.startsWith('svc:')).join(' '), MAX_TITLE);
  const prose = `${title.replace(URL, ' ')}\n${body}`;
  const quoted = [...prose.matchAll(QUOTED)].map(([, inner = '']) => inner.trim());
  const slashed = (prose.match(PATH) ?? []).map(cleanPath).filter((path) => path.includes('/') && /[a-z]/i.test(path));
  const named = (prose.match(FILE) ?? []).filter(isFile);
  const paths = distinct([...slashed, ...named]);
  const code = quoted.filter((text) => /^[A-Za-z_$][\w$]*(?:\(\))?$/.test(text)).map((text) => text.replace('()', ''));
  const names = (prose.match(NAME) ?? []).filter((name) => name.length <= MAX_NAME);
  const symbols = distinct([...code, ...names]).filter((name) => !COMMON.has(name.toLowerCase()));
  return {
    paths: paths.slice(0, MAX_PATHS),
    symbols: symbols.slice(0, MAX_SYMBOLS),
    words: weighedWords({ title, body, labels }),
  };
}

const distinct = (texts: readonly string[]): string[] => [...new Set(texts)];

/** Words of the title first, then labels, then the most frequent ones of the body. */
function weighedWords({ title, body, labels }: Record<'title' | 'body' | 'labels', string>): Anchors['words'] {
  const weights = new Map<string, number>();
  const add = (text: string, weight: number, cap: number) => {
    for (const [word] of text.toLowerCase().matchAll(WORD)) {
      if (COMMON.has(word) || /^\d+$/.test(word)) continue;
      const before = weights.get(word) ?? 0;
      if (before < cap) weights.set(word, Math.min(cap, before + weight));
    }
  };
  add(title, WEIGHT.title, WEIGHT.title);
  add(labels, WEIGHT.label, WEIGHT.title + 1);
  add(body, WEIGHT.body / 2, WEIGHT.title + 2);
  return [...weights]
    .map(([word, weight]) => ({ word, weight }))
    .sort((a, b) => b.weight - a.weight)
    .slice(0, MAX_WORDS);
}

/** A path and its parent folders, nearest last: `a/b/c.ts` -> `a`, `a/b`, `a/b/c.ts`. */
export function withFolders(path: string): string[] {
  const parts = path.split('/').filter((part) => part !== '');
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}

/** The number of anchors, for the debug result. */
export const countAnchors = ({ paths, symbols, words }: Anchors): number =>
  paths.length + symbols.length + words.length;
