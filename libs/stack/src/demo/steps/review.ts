import { isMarkdown, type Tree } from '../chores/chore.ts';
import { cleanLine, withFinalNewline } from '../chores/whitespace.ts';
import { only, outcome, requireChore, type Step, type StepContext } from './context.ts';

interface AddedLine {
  path: string;
  /** 1-based, in the new file. */
  line: number;
  text: string;
}

interface Problem {
  path: string;
  line: number;
  body: string;
}

/** A real check of the branch: the chore run again, the plan's files, whitespace, a clean merge. */
export const review: Step = async (context) => {
  const { task, scenario, files } = context;
  const head = await files.head();
  const changed = await files.changedFiles();
  const planned = task.payload.plan?.plannedFiles;
  const outside = planned ? changed.filter((path) => !planned.includes(path)) : [];
  if (outside.length > 0)
    return only('needs-human', { reason: `Changed, but not planned: ${outside.join(', ')}. Is that meant?` });
  if (scenario.human) return only('needs-human', { reason: 'A human review is requested (demo:human).' });

  const problems = [...(await incomplete(context)), ...(await untidy(context, changed))];
  const conflicts = await files.conflicts();
  problems.push(...conflicts.map((path) => ({ path, line: 1, body: 'Conflicts with the default branch.' })));
  const texts = [report(head, changed, problems)];
  if (problems.length > 0) {
    const body = `The scripted demo review (a simulation) found ${problems.length} problems at ${head}.`;
    return { texts, outcome: outcome('changes-requested', { body, comments: problems.slice(0, 50) }) };
  }
  const body = `Checked ${changed.length} files at ${head}: complete, planned, clean, mergeable.`;
  return { texts, outcome: outcome('approved', { body }) };
};

/** Lists what the chore would still change on the branch. */
async function incomplete(context: StepContext): Promise<Problem[]> {
  const tree = await context.files.tree();
  const planned = context.task.payload.plan?.plannedFiles;
  return requireChore(context, tree)
    .edits(tree)
    .filter((edit) => !planned || planned.includes(edit.path))
    .map(({ path }) => ({ path, line: 1, body: 'Run again, the chore would still change this file.' }));
}

async function untidy({ files }: StepContext, changed: string[]): Promise<Problem[]> {
  const tree: Tree = await files.tree();
  const open = changed.filter((path) => {
    const text = tree.read(path);
    return text !== null && withFinalNewline(text) !== text;
  });
  const quiet = ['-c', 'core.quotePath=false', 'diff', '-U0', '--no-prefix', '--no-color', '--no-ext-diff'];
  const blanks = strayBlanks(addedLines(await files.git(...quiet, `${files.base}...HEAD`)));
  return [
    ...open.map((path) => ({ path, line: lines(tree.read(path)), body: 'The file must end in exactly one newline.' })),
    ...blanks.map(({ path, line }) => ({ path, line, body: 'Blanks at the end of the line.' })),
  ];
}

const lines = (text: string | null): number => Math.max(1, (text ?? '').trimEnd().split('\n').length);

function report(head: string, files: string[], problems: Problem[]): string {
  const found = problems.map(({ path, line, body }) => `- \`${path}:${line}\` ${body}`);
  const verdict = problems.length === 0 ? 'No problem found.' : found.join('\n');
  return `Review of ${head.slice(0, 10)}\n\nFiles: ${files.map((path) => `\`${path}\``).join(', ')}\n\n${verdict}\n`;
}

/** The added lines of a unified diff made with `-U0 --no-prefix`. */
function addedLines(diff: string): AddedLine[] {
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
function strayBlanks(lines: AddedLine[]): AddedLine[] {
  return lines.filter(({ path, text }) => {
    const content = text.replace(/\r$/, '');
    return cleanLine(content, isMarkdown(path)) !== content;
  });
}
