import { type Chore, changed, REPORT_FOLDER } from './chore.ts';

const INDEX_PATH = `${REPORT_FOLDER}/index.md`;
const HEAD = '# Chores done\n\n';
const ENTRY = /^- #(\d+): /;

/** The page with one line for the issue, sorted by number: two added lines next to each other conflict. */
export function withIndexLine(text: string | null, issue: { number: number; title: string }): string {
  const line = `- #${issue.number}: ${issue.title.replace(/\s+/g, ' ').trim()}`;
  const others = (text ?? '').split('\n').filter((known) => ENTRY.test(known) && numberOf(known) !== issue.number);
  return `${HEAD}${[...others, line].sort((a, b) => numberOf(a) - numberOf(b)).join('\n')}\n`;
}

const numberOf = (line: string): number => Number(ENTRY.exec(line)?.[1]);

/** The chore, which also enters itself in a page that others write to. */
export function crowded(chore: Chore, issueNumber: number): Chore {
  return {
    ...chore,
    edits: (tree) => [
      ...chore.edits(tree),
      ...changed(tree, [
        { path: INDEX_PATH, text: withIndexLine(tree.read(INDEX_PATH), { number: issueNumber, title: chore.title }) },
      ]),
    ],
  };
}
