import { isMarkdown } from '../chores/chore.ts';
import { cleanLine } from '../chores/whitespace.ts';

export interface AddedLine {
  path: string;
  /** 1-based, in the new file. */
  line: number;
  text: string;
}

/** The added lines of a unified diff made with `-U0 --no-prefix`. */
export function addedLines(diff: string): AddedLine[] {
  const found: AddedLine[] = [];
  let path: string | null = null;
  let line = 0;
  let pending = 0;
  for (const row of diff.split('\n')) {
    if (pending > 0 && row.startsWith('+')) {
      if (path !== null) found.push({ path, line, text: row.slice(1) });
      line += 1;
      pending -= 1;
      continue;
    }
    const hunk = /^@@ -\S+ \+(\d+)(?:,(\d+))? @@/.exec(row);
    if (hunk) {
      line = Number(hunk[1]);
      pending = Number(hunk[2] ?? 1);
    } else if (row.startsWith('+++ ')) path = row === '+++ /dev/null' ? null : row.slice(4).replace(/\t$/, '');
  }
  return found;
}

/** Added lines that end in stray blanks. */
export function strayBlanks(lines: AddedLine[]): AddedLine[] {
  return lines.filter(({ path, text }) => {
    const content = text.replace(/\r$/, '');
    return cleanLine(content, isMarkdown(path)) !== content;
  });
}
