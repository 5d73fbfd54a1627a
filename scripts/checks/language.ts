/**
 * Counts words that only this project uses where the field has a term. Counts per word and package are recorded in
 * language-counts.json and may only fall; a word without a recorded count is forbidden in that package.
 *
 * `node scripts/checks/language.ts` lists the findings over the recorded counts, `--list PATH` every finding below a
 * path, `--write` records counts that fell or moved to another package. It never raises the total of a word.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, repositoryFiles } from './workspace.ts';

export const COUNTS_FILE = join(import.meta.dirname, 'language-counts.json');

export interface Term {
  readonly pattern: RegExp;
  /** The words to write in its place. */
  readonly standard: string;
}

/** By name. Spaces of a pattern also match a line break inside a comment. */
export const TERMS: Readonly<Record<string, Term>> = {
  anew: term('anew', 'again, retry'),
  'asked for': term(
    '(?:is|are|was|were|be|been) asked (?:for|whether|about|to|once|again)',
    'is requested, is queried',
  ),
  'asks nobody': term('asks? nobody', 'does not authenticate, does not query'),
  bury: term('bur(?:y|ies|ied|ying)', 'dead-letter'),
  carrier: term('carriers?', 'transition metadata'),
  circle: term('circles?', 'cycle'),
  deed: term('deeds?', 'action'),
  doom: term('doom(?:s|ed)?', 'inject a fault, drop a connection'),
  doorbell: term('doorbells?', 'notification'),
  fold: term('fold(?:s|ed|ing)?', 'aggregate, apply deltas'),
  'for ever': term('for ever', 'permanently'),
  'held against': term('held against', 'compared with'),
  'in vain': term('in vain', 'without effect'),
  'label walk': term('label walks?', 'label reconciliation'),
  lender: term('lenders?|brokers?', 'database pool'),
  letter: term('(?<!dead[ -]|-case |on a )letters?(?! case| and digits|, digits)', 'dead letter'),
  mend: term('mend(?:s|ed|ing)?', 'repair, fix'),
  moment: term("of (?:one|the same|its|that) moment|a moment's", 'concurrent, batched'),
  nobody: term('nobody (?:asks|asked|tells|told|knows|looks|said)', 'not queried, not reported, unknown'),
  'once more': term('once more', 'again'),
  'own word': term('own word|by its word', 'reported status'),
  patience: term('patience', 'timeout, wait options'),
  relisted: term('relist(?:s|ed|ing)?', 'needs refresh'),
  remark: term('remarks?', 'comment'),
  ring: term('r(?:ing|ings|ang|ung|inging)(?! buffer)', 'notify, notification'),
  'side by side': term('side by side', 'concurrently'),
  standing: term('standing', 'current, in this state'),
  'take up': term('tak(?:e|es|en|ing) up|took up', 'handle, apply'),
  tell: term('tells?|telling', 'report, notify, show'),
  told: term('told', 'reported, notified, known'),
  twins: term('twins?', 'two replicas'),
  'under way': term('under way', 'in flight, in progress'),
  whoever: term('whoever|whomever|whosever', 'the component that acts'),
  'who acts': term('who (?:asks|fails|comes|waits|looks|reads|writes|finds|wants|stands)', 'the component that acts'),
  wish: term('wish(?:es|ed)?', 'host write, outbox entry'),
};

/** Texts that the interface fixes word by word. They are not counted; no other text belongs here. */
export const FIXED_TEXTS: readonly string[] = [];

export interface Finding {
  readonly word: string;
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

/** Occurrences by word, then by package. */
export type Counts = Readonly<Record<string, Readonly<Record<string, number>>>>;

function term(words: string, standard: string): Term {
  const pattern = new RegExp(
    `(?<![\\w$-])(?:${words.replaceAll(/(?<=\w) (?=[\w(])/g, '\\s+(?:[*/]+\\s*)?')})(?![\\w$])`,
    'gi',
  );
  return { pattern, standard };
}

/** Findings in one file, in order of the words. */
export function findingsIn(path: string, text: string, fixedTexts: readonly string[] = FIXED_TEXTS): Finding[] {
  const counted = fixedTexts.reduce((rest, fixed) => rest.replaceAll(fixed, (match) => '·'.repeat(match.length)), text);
  return Object.entries(TERMS).flatMap(([word, { pattern }]) =>
    [...counted.matchAll(pattern)].map(({ index }) => {
      const before = counted.slice(0, index).split('\n');
      return { word, path, line: before.length, text: counted.split('\n')[before.length - 1]?.trim() ?? '' };
    }),
  );
}

/** The two files of this check name every word; generated documents follow their sources. */
const UNCHECKED = /^docs\/reference\/|\.generated\.|^scripts\/checks\/language/;

/** Findings in all sources and documents of the repository. */
export function repositoryFindings(): Finding[] {
  const paths = repositoryFiles().filter((path) => /\.(tsx?|mjs|md|ya?ml|html)$/.test(path) && !UNCHECKED.test(path));
  return paths.flatMap((path) => findingsIn(path, readFileSync(join(ROOT, path), 'utf8')));
}

/** `libs/store` for files of a package, else the top folder, or `.` for files of the root. */
export function packageOf(path: string): string {
  const [top = '.', ...rest] = path.split('/');
  if (rest.length === 0) return '.';
  return top === 'libs' || top === 'services' ? `${top}/${rest[0]}` : top;
}

export function countsOf(findings: readonly Finding[]): Counts {
  const counts: Record<string, Record<string, number>> = {};
  for (const { word, path } of findings) {
    const byPackage = counts[word] ?? {};
    counts[word] = { ...byPackage, [packageOf(path)]: (byPackage[packageOf(path)] ?? 0) + 1 };
  }
  return counts;
}

export const readCounts = (): Counts => JSON.parse(readFileSync(COUNTS_FILE, 'utf8'));

/** One line for each word and package whose count rose, with the replacement and the places. */
export function risenCounts(findings: readonly Finding[], recorded: Counts): string[] {
  return Object.entries(countsOf(findings)).flatMap(([word, byPackage]) =>
    Object.entries(byPackage)
      .filter(([name, count]) => count > (recorded[word]?.[name] ?? 0))
      .map(([name, count]) => {
        const places = findings.filter((found) => found.word === word && packageOf(found.path) === name);
        const lines = places.slice(0, 20).map(({ path, line, text }) => `    ${path}:${line}: ${text}`);
        const before = recorded[word]?.[name] ?? 0;
        const limit = before === 0 ? 'is forbidden' : `may occur ${before} times, occurs ${count} times`;
        return [`"${word}" ${limit} in ${name}; write: ${TERMS[word]?.standard}`, ...lines].join('\n');
      }),
  );
}

/** Words whose total over all packages rose; `--write` refuses to record them. */
export function risenTotals(current: Counts, recorded: Counts): string[] {
  const total = (counts: Counts, word: string) => Object.values(counts[word] ?? {}).reduce((sum, n) => sum + n, 0);
  return Object.keys(current).filter((word) => total(current, word) > total(recorded, word));
}

const byName = <T>(entries: Readonly<Record<string, T>>): Record<string, T> =>
  Object.fromEntries(Object.entries(entries).sort(([a], [b]) => (a < b ? -1 : 1)));

export const formatCounts = (counts: Counts): string =>
  `${JSON.stringify(byName(Object.fromEntries(Object.entries(counts).map(([word, own]) => [word, byName(own)]))), null, 2)}\n`;

const show = ({ word, path, line, text }: Finding): string => `${path}:${line}: [${word}] ${text}`;

/** Records the counts. @returns the problem that prevents it, or none. */
function record(findings: readonly Finding[]): string[] {
  const risen = risenTotals(countsOf(findings), readCounts());
  if (risen.length > 0) return [`The totals of these words rose: ${risen.join(', ')}`];
  writeFileSync(COUNTS_FILE, formatCounts(countsOf(findings)));
  return [];
}

if (import.meta.main) {
  const [mode, below = ''] = process.argv.slice(2);
  const findings = repositoryFindings();
  if (mode === '--list')
    console.log(
      findings
        .filter(({ path }) => path.startsWith(below))
        .map(show)
        .join('\n'),
    );
  else {
    const problems = mode === '--write' ? record(findings) : risenCounts(findings, readCounts());
    if (problems.length > 0) console.error(problems.join('\n'));
    process.exitCode = problems.length > 0 ? 1 : 0;
  }
}
