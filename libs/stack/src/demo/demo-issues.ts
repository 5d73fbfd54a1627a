import { type ChoreKind, isMarkdown, isScript } from './chores/chore.ts';
import { SCENARIO_LABELS } from './scenarios.ts';

export interface DemoIssue {
  title: string;
  body: string;
  /** Labels without `svc:enqueue`, which the simulation adds. */
  labels: string[];
}

const COUNT = 30;

/** The first issue is one that always has something to do. */
const ORDER: readonly ChoreKind[] = ['docstrings', 'toc', 'links', 'licence', 'whitespace'];

/** Scenarios of issues by their place in the list (mostly reports: those always have something to do). */
const SCENARIOS: Record<number, (keyof typeof SCENARIO_LABELS)[]> = {
  2: ['sloppy'],
  3: ['unclear'],
  5: ['flaky'],
  8: ['crowded'],
  9: ['crowded'],
  10: ['crowded'],
  13: ['broken'],
  15: ['sloppy', 'crowded'],
  17: ['slow'],
  20: ['human'],
  21: ['unclear', 'sloppy'],
  25: ['flaky', 'sloppy'],
};

const TEXT: Record<ChoreKind, (target: string) => { title: string; body: string }> = {
  toc: (target) => ({
    title: `Add a table of contents to \`${target}\``,
    body: `The page \`${target}\` is long enough to get lost in. A list of its sections at the top would help.`,
  }),
  docstrings: (target) => ({
    title: `List the missing docstrings in \`${target}\``,
    body: `Which exported names in \`${target}\` have no docstring? A page under docs/reports is enough.`,
  }),
  links: (target) => ({
    title: `Report broken relative links in \`${target}\``,
    body: `Some links in \`${target}\` may have gone stale. Please list those that lead nowhere.`,
  }),
  licence: (target) => ({
    title: `Report files without licence headers in \`${target}\``,
    body: `Before the next release we want to know which files of \`${target}\` name no licence.`,
  }),
  whitespace: (target) => ({
    title: `Clean up whitespace in \`${target}\``,
    body: `\`${target}\` may have blanks at line ends or no final newline.`,
  }),
};

/**
 * Thirty issues (fewer in a repository with hardly any files) for the demo agent, made from the paths of a repository.
 * The same paths give the same list; no two issues ask for the same thing. A prerequisite is named as `#FIRST`, which
 * the caller replaces by the number that the host gives the first issue (fillReferences).
 */
export function demoIssues(files: readonly string[]): DemoIssue[] {
  const requests = interleave(ORDER.map((kind) => targets(kind, files).map((target) => ({ kind, target }))));
  return requests.slice(0, COUNT).map(({ kind, target }, index) => {
    const scenarios = SCENARIOS[index] ?? [];
    const { title, body } = TEXT[kind](target);
    const needsFirst = index === 11 ? '\n\nDepends on #FIRST.' : '';
    return {
      title,
      body: body + needsFirst,
      labels: [`chore:${kind}`, ...scenarios.map((name) => SCENARIO_LABELS[name])],
    };
  });
}

/** The issue's text once the number of the first one is known. */
export const fillReferences = (issue: DemoIssue, firstNumber: number): DemoIssue => ({
  ...issue,
  body: issue.body.replaceAll('#FIRST', `#${firstNumber}`),
});

/** Files and folders that suit a chore, shallow ones first. */
function targets(kind: ChoreKind, files: readonly string[]): string[] {
  const pages = shallowFirst(files.filter((path) => isMarkdown(path) && !path.startsWith('docs/reports/')));
  if (kind === 'toc') return pages;
  // Most repositories keep their whitespace clean; one issue shows what happens then.
  if (kind === 'whitespace') return pages.slice(0, 1);
  if (kind === 'links') return shallowFirst(folders(pages));
  return shallowFirst(folders(files.filter(isScript)));
}

/** Every folder that holds one of the files, at any depth. */
function folders(files: readonly string[]): string[] {
  return files.flatMap((path) => {
    const parts = path.split('/').slice(0, -1);
    return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
  });
}

function shallowFirst(paths: readonly string[]): string[] {
  const depth = (path: string) => path.split('/').length;
  return [...new Set(paths)].sort((a, b) => depth(a) - depth(b) || (a < b ? -1 : 1));
}

/** One of each list in turn, until all are used up. */
function interleave<T>(lists: readonly T[][]): T[] {
  const longest = Math.max(0, ...lists.map((list) => list.length));
  return Array.from({ length: longest }, (_, index) => lists.flatMap((list) => list.slice(index, index + 1))).flat();
}
