import type { Tree } from '../chores/chore.ts';
import { withFinalNewline } from '../chores/whitespace.ts';
import { AgentFailure } from '../failure.ts';
import { outcome, requireChore, type Step, type StepContext } from './context.ts';
import { addedLines, strayBlanks } from './diff.ts';

interface Problem {
  path: string;
  line: number;
  body: string;
}

/** A real check of the branch: the chore run again, the plan's files, whitespace, a clean merge. */
export const review: Step = async (context) => {
  const { task, scenario, branch, checkout, emit } = context;
  const tip = await checkout.commitOf(checkout.remote(branch));
  if (tip === null) return outcome('needs-human', { reason: `The host has no branch ${branch} to review.` });
  // The verdict is about the commit that the task names, whatever was pushed since.
  const head = await checkout.commitOf(task.payload.pr?.headSha ?? tip);
  if (head === null) throw new AgentFailure('transient', `The commit to review is no longer on ${branch}.`);
  const files = await checkout.changedFiles(checkout.base, head);
  emit({ type: 'progress', status: `Reviewing ${files.length} files at ${head.slice(0, 10)}` });
  const planned = task.payload.plan?.plannedFiles;
  const outside = planned ? files.filter((path) => !planned.includes(path)) : [];
  if (outside.length > 0)
    return outcome('needs-human', { reason: `Changed, but not planned: ${outside.join(', ')}. Is that meant?` });
  if (scenario.human) return outcome('needs-human', { reason: 'A human review is requested (demo:human).' });

  const problems = [...(await incomplete(context, head)), ...(await untidy(context, head, files))];
  const conflicts = await checkout.conflicts(checkout.base, head);
  problems.push(...conflicts.map((path) => ({ path, line: 1, body: 'Conflicts with the default branch.' })));
  emit({ type: 'artefact', kind: 'review-report', mediaType: 'text/markdown', ...report(head, files, problems) });
  if (problems.length > 0)
    return outcome('changes-requested', {
      body: `The scripted demo review (a simulation) found ${problems.length} problems at ${head}.`,
      comments: problems.slice(0, 50),
    });
  return outcome('approved', {
    body: `Checked ${files.length} files at ${head}: complete, planned, clean, mergeable.`,
    headSha: head,
  });
};

/** What the chore would still change on the branch. */
async function incomplete(context: StepContext, head: string): Promise<Problem[]> {
  await context.checkout.at(head);
  const tree = await context.checkout.tree();
  const planned = context.task.payload.plan?.plannedFiles;
  return requireChore(context, tree)
    .edits(tree)
    .filter((edit) => !planned || planned.includes(edit.path))
    .map(({ path }) => ({ path, line: 1, body: 'Run again, the chore would still change this file.' }));
}

async function untidy({ checkout }: StepContext, head: string, files: string[]): Promise<Problem[]> {
  const tree: Tree = await checkout.tree();
  const open = files.filter((path) => {
    const text = tree.read(path);
    return text !== null && withFinalNewline(text) !== text;
  });
  const quiet = ['-c', 'core.quotePath=false', 'diff', '-U0', '--no-prefix', '--no-color', '--no-ext-diff'];
  const blanks = strayBlanks(addedLines(await checkout.git(...quiet, `${checkout.base}...${head}`)));
  return [
    ...open.map((path) => ({ path, line: lines(tree.read(path)), body: 'The file must end in exactly one newline.' })),
    ...blanks.map(({ path, line }) => ({ path, line, body: 'Blanks at the end of the line.' })),
  ];
}

const lines = (text: string | null): number => Math.max(1, (text ?? '').trimEnd().split('\n').length);

function report(head: string, files: string[], problems: Problem[]): { title: string; body: string } {
  const found = problems.map(({ path, line, body }) => `- \`${path}:${line}\` ${body}`);
  const verdict = problems.length === 0 ? 'No problem found.' : found.join('\n');
  return {
    title: `Review of ${head.slice(0, 10)}`,
    body: `Files: ${files.map((path) => `\`${path}\``).join(', ')}\n\n${verdict}\n`,
  };
}
