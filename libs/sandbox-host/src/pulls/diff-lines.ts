import { branchRef } from '../git/git.ts';
import type { PullIssue, RepoRecord, Sandbox } from '../state/model.ts';

/** Lines of one file that are part of a diff: those of the new file on the right, those of the old one on the left. */
interface DiffLines {
  RIGHT: Set<number>;
  LEFT: Set<number>;
}

/** The lines that may carry a review comment, by path. One git process. */
export async function diffLines(
  { git }: Sandbox,
  repo: RepoRecord,
  { pull }: PullIssue,
): Promise<Map<string, DiffLines>> {
  const dir = git.dir(repo);
  const base = (await git.resolve(dir, branchRef(pull.baseRef))) ?? pull.baseSha;
  const plain = ['-c', 'core.quotePath=false', 'diff', '--no-renames', '--no-color', '--no-prefix', '-U3'];
  const diff = await git.run(dir, [...plain, `${base}...${pull.headSha}`]);
  return new Map(`\n${diff}`.split('\ndiff --git ').slice(1).map(linesOfFile));
}

function linesOfFile(text: string): [path: string, lines: DiffLines] {
  // What stands before the first hunk names the file; a line of the file may look the same.
  const [head = '', ...hunks] = text.split('\n@@ ');
  const names = head.split('\n').filter((line) => /^(---|\+\+\+) /.test(line) && !line.endsWith(' /dev/null'));
  const lines: DiffLines = { RIGHT: new Set(), LEFT: new Set() };
  for (const hunk of hunks) addHunk(lines, hunk);
  return [(names.at(-1) ?? '').slice(4), lines];
}

/** @param hunk begins with `-12,3 +14,5 @@`. */
function addHunk(lines: DiffLines, hunk: string): void {
  const [head = '', ...body] = hunk.split('\n');
  const [left = '', right = ''] = head.split(' ');
  let old = Number.parseInt(left.slice(1), 10);
  let fresh = Number.parseInt(right.slice(1), 10);
  for (const line of body) {
    if (line.startsWith('\\')) continue;
    if (!line.startsWith('+')) lines.LEFT.add(old++);
    if (!line.startsWith('-')) lines.RIGHT.add(fresh++);
  }
}
