import {
  type Anchors,
  type FileMethod,
  type FileSign,
  type Fit,
  type SnippetCandidate,
  withFolders,
} from '@pipeline/domain';
import type { FoundFile, FoundItem, Precedent } from '@pipeline/store';
import type { RetrievalSubject } from './retrieval-subject.ts';

/** All results of one retrieval. */
export interface Found {
  files: FoundFile[];
  precedents: Precedent[];
  items: FoundItem[];
  /** Similarity by id of the item. */
  meanings: ReadonlyMap<string, number>;
}

export interface ScopeRefs {
  /** Proximity to the issue, 0 to 1, by scope: files of the issue, folders around them, code identifiers. */
  nearness: ReadonlyMap<string, number>;
}

const CANDIDATE = 0.4;
const FOLDER = 0.5;

/** @returns the names in the issue, and those of the files that it seems to be about. */
export function scopeRefs({ anchors, planned, changed }: RetrievalSubject, files: readonly FoundFile[]): ScopeRefs {
  const nearness = new Map<string, number>();
  const add = (ref: string, value: number) => nearness.set(ref, Math.max(value, nearness.get(ref) ?? 0));
  const own = [...(planned ?? []), ...(changed ?? []), ...anchors.paths];
  for (const path of own) for (const folder of withFolders(path)) add(folder, FOLDER);
  for (const path of [...own, ...anchors.symbols]) add(path, 1);
  for (const { path, how } of files.slice(0, 20)) add(path, how === 'text' || how === 'trigram' ? CANDIDATE : 1);
  return { nearness };
}

/** The match of an item, with reasons. */
export type FoundFit = Pick<SnippetCandidate, 'fit' | 'reasons'>;

/** The match of each found item, by its id. */
export function fitsOf(found: Found, anchors: Anchors, { nearness }: ScopeRefs): Map<string, FoundFit> {
  const best = bestText(found.items);
  const byItem = Map.groupBy(found.items, ({ itemId }) => itemId);
  const ids = new Set([...byItem.keys(), ...found.meanings.keys()]);
  const nearnessOf = (ref: string) => nearness.get(ref) ?? 0;
  return new Map(
    [...ids].map((id) => {
      const hits = byItem.get(id) ?? [];
      const is = (how: FoundItem['how']) => (hits.some((hit) => hit.how === how) ? 1 : 0);
      const text = hits.find(({ how }) => how === 'text');
      const [nearest = ''] = hits.flatMap(({ refs }) => refs).toSorted((x, y) => nearnessOf(y) - nearnessOf(x));
      const fit: Fit = {
        text: text ? text.score / best : 0,
        scope: nearnessOf(nearest),
        precedent: is('precedent'),
        meaning: found.meanings.get(id) ?? 0,
        repoWide: is('repo'),
      };
      return [id, { fit, reasons: reasonsOf(fit, { nearest, words: wordsOf(anchors, text?.clues) }) }] as const;
    }),
  );
}

function reasonsOf(fit: Fit, { nearest, words }: { nearest: string; words: string[] }): string[] {
  return [
    fit.scope > 0 && `about ${nearest}`,
    words.length > 0 && `says ${quoted(words)}`,
    fit.precedent > 0 && 'learnt from an issue like this one',
    fit.meaning > 0 && `near in meaning (${fit.meaning.toFixed(2)})`,
    fit.repoWide > 0 && 'holds for the whole repo',
  ].filter((reason) => reason !== false);
}

const wordsOf = (anchors: Anchors, clues: readonly number[] = []): string[] =>
  clues.flatMap((n) => anchors.words[n - 1]?.word ?? []);

const bestText = (hits: readonly { how: string; score: number }[]): number =>
  Math.max(0, ...hits.filter(({ how }) => how === 'text').map(({ score }) => score)) || 1;

const MAX_QUOTED = 4;
const quoted = (words: readonly string[]): string =>
  words
    .slice(0, MAX_QUOTED)
    .map((word) => `"${word}"`)
    .join(', ');

const METHOD_OF: Record<FoundFile['how'], FileMethod> = {
  text: 'text',
  symbol: 'symbol',
  path: 'path',
  name: 'path',
  trigram: 'trigram',
};

/** All evidence for relevant files: plan and changes, names and words of the issue, earlier issues, items. */
export function fileSigns({ anchors, planned, changed }: RetrievalSubject, found: Found, names: string[]): FileSign[] {
  const best = bestText(found.files);
  const whyOf = ({ how, clues }: FoundFile): string => {
    const [n = 0] = clues;
    if (how === 'text') return `says ${quoted(wordsOf(anchors, clues))}`;
    if (how === 'symbol') return `names ${anchors.symbols[n - 1]}`;
    return how === 'trigram' ? `is like ${names[n - 1]}` : 'is named by the issue';
  };
  const sign = (path: string, method: FileMethod, why: string): FileSign => ({ path, method, strength: 1, why });
  return [
    ...(planned ?? []).map((path) => sign(path, 'planned', 'is planned')),
    ...(changed ?? []).map((path) => sign(path, 'changed', 'is changed by the pull request')),
    ...found.files.map((hit) => {
      const strength = hit.how === 'text' ? hit.score / best : hit.score;
      return { ...sign(hit.path, METHOD_OF[hit.how], whyOf(hit)), strength };
    }),
    ...found.precedents.flatMap(({ issueNumber, files }) =>
      files.map((path) => sign(path, 'precedent', `was changed for #${issueNumber}`)),
    ),
  ];
}

/** Counts the anchors that had results. */
export function countAnchorHits({ anchors, planned, changed }: RetrievalSubject, found: Found): number {
  const words = [...found.files, ...found.items].filter(({ how }) => how === 'text').flatMap(({ clues }) => clues);
  const refs = new Set(found.items.flatMap((hit) => hit.refs));
  const mapped = new Set(found.files.filter(({ how }) => how === 'path').map(({ path }) => path));
  const symbols = new Set(found.files.filter(({ how }) => how === 'symbol').map(({ clues }) => clues[0]));
  const named = found.files.filter(({ how }) => how === 'name').map(({ path }) => path);
  const isHit = (path: string) => mapped.has(path) || refs.has(path) || named.some((one) => one.endsWith(path));
  const paths = [...new Set([...anchors.paths, ...(planned ?? []), ...(changed ?? [])])];
  return (
    new Set(words).size +
    paths.filter(isHit).length +
    anchors.symbols.filter((symbol, index) => symbols.has(index + 1) || refs.has(symbol)).length
  );
}
