import { withoutTrailing } from '@pipeline/domain';
import { CHORE_KINDS, type Chore, type ChoreKind, isMarkdown, isScript, type Tree } from './chore.ts';
import { DOCSTRINGS } from './docstrings.ts';
import { LICENCE } from './licence.ts';
import { LINKS } from './links.ts';
import { reportChore } from './report.ts';
import { tocChore } from './toc.ts';
import { whitespaceChore } from './whitespace.ts';

export interface ChoreRequest {
  title: string;
  body: string;
  labels: readonly string[];
  /** Answers of people, oldest first. */
  answers: readonly string[];
}

export type Choice = { chore: Chore } | { question: string };

const MAKE: Record<ChoreKind, (target: string) => Chore> = {
  toc: tocChore,
  whitespace: whitespaceChore,
  docstrings: (target) => reportChore(DOCSTRINGS, target),
  links: (target) => reportChore(LINKS, target),
  licence: (target) => reportChore(LICENCE, target),
};

const WORDS: Record<ChoreKind, RegExp> = {
  toc: /table of contents|\btoc\b/i,
  whitespace: /whitespace|final newline/i,
  docstrings: /docstrings?|doc comments?|undocumented/i,
  links: /(broken|dead|relative).{0,20}\blinks?/i,
  licence: /licen[cs]e headers?|spdx/i,
};

const SUITS: Record<ChoreKind, (path: string) => boolean> = {
  toc: isMarkdown,
  whitespace: () => true,
  docstrings: isScript,
  links: isMarkdown,
  licence: isScript,
};

const MAX_CANDIDATES = 8;

export const makeChore = (kind: ChoreKind, target: string): Chore => MAKE[kind](target);

/** The kind by label (`chore:toc`), else by the words of the title, the body and the answers, in this order. */
function kindOf(request: ChoreRequest): ChoreKind | null {
  const named = CHORE_KINDS.find((kind) => request.labels.includes(`chore:${kind}`));
  if (named) return named;
  for (const text of [request.title, request.body, ...request.answers]) {
    const kind = CHORE_KINDS.find((candidate) => WORDS[candidate].test(text));
    if (kind) return kind;
  }
  return null;
}

const quoted = (text: string): string[] => [...text.matchAll(/`([^`\s]+)`/g)].map(([, inner]) => inner ?? '');

/** A path as the tree spells it; '' for the root, null for nothing the chore could work on. */
function resolve(raw: string, kind: ChoreKind, tree: Tree): string | null {
  const path = withoutTrailing(raw.replace(/^\.?\//, ''), '/.,;:');
  const suits = SUITS[kind];
  if (tree.paths.includes(path)) return suits(path) ? path : null;
  // A table of contents belongs to one page.
  const below = kind !== 'toc' && tree.paths.some((known) => known.startsWith(`${path}/`) && suits(known));
  return below ? path : null;
}

function answeredTarget(answers: readonly string[], kind: ChoreKind, tree: Tree): string | null {
  const words = [...answers].reverse().flatMap((answer) => [...quoted(answer), ...answer.split(/[\s`'"]+/)]);
  for (const word of words) {
    const path = word === '' ? null : resolve(word, kind, tree);
    if (path !== null) return path;
  }
  return null;
}

/**
 * Returns the chore that an issue requests, or the question that has to be answered first. With answers there is always
 * a choice as long as the chore is known and the repository has a file for it: an answer that names none leaves it to
 * the agent.
 */
export function chooseChore(request: ChoreRequest, tree: Tree): Choice {
  const kind = kindOf(request);
  if (!kind) return { question: `Which chore is meant? I know ${CHORE_KINDS.join(', ')}; name one in your answer.` };
  const answered = answeredTarget(request.answers, kind, tree);
  if (answered !== null) return { chore: makeChore(kind, answered) };

  const candidates = tree.paths.filter(SUITS[kind]).sort();
  const first = candidates[0];
  if (first === undefined) return { question: `The repository has no file for the chore "${kind}". What is meant?` };
  const list = candidates.slice(0, MAX_CANDIDATES).map((path) => `- \`${path}\``);
  const asked = /which file\?/i.test(`${request.title}\n${request.body}`);
  const named = quoted(`${request.title}\n${request.body}`);
  const found = named.map((path) => resolve(path, kind, tree)).find((path) => path !== null);
  if (!asked && found !== undefined) return { chore: makeChore(kind, found) };
  if (!asked && kind !== 'toc' && /whole repository|everywhere/i.test(`${request.title}\n${request.body}`))
    return { chore: makeChore(kind, '') };
  if (request.answers.length > 0) return { chore: makeChore(kind, first) };
  const missing = named.length > 0 && !asked ? `I find nothing to do in ${named.join(', ')}. ` : '';
  return { question: `${missing}Which file or folder is meant? For example:\n${list.join('\n')}` };
}
