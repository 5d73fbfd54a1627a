import type { Chore, Edit } from '../chores/chore.ts';
import { withFinalNewline } from '../chores/whitespace.ts';
import { AgentFailure } from '../failure.ts';
import { only, outcome, requireChore, type Step, type StepContext } from './context.ts';

/** Author of the commits that pipeline-agent makes. */
const OWN_EMAIL = 'agent@pipeline.invalid';

/** Does the chore in the work tree, which contains the newest default branch. */
export const develop: Step = async (context) => {
  const { issue, files, conflicts } = context;
  playScenario(context);
  const strangers = await strangersIn(context);
  if (strangers.length > 0)
    return only('needs-clarification', {
      question: `The branch conflicts with the default branch and holds commits by ${strangers.join(', ')}. Please rebase it.`,
    });
  // The chore makes the agent's own part again.
  await files.restore(conflicts);

  const chore = requireChore(context, await files.tree());
  const edits = await editsOf(context, chore);
  if (edits === 'unplanned') return only('replan', { reason: 'The plan names none of the files that need a change.' });
  await files.requireNoLinks(edits);
  const changed = [...new Set([...(await files.changedFiles()), ...edits.map(({ path }) => path)])];
  if (changed.length === 0)
    return only('needs-clarification', {
      question: `${chore.title}: the default branch has it already. Close this issue, or say what is missing.`,
    });
  const body = `${chore.title}.\n\nMade by the scripted demo agent (a simulation).\n\nRefs #${issue.number}`;
  const title = context.task.payload.reviewComments.length > 0 ? `Address the review: ${chore.title}` : chore.title;
  return { edits, texts: [`Changed ${changed.join(', ')}.`], outcome: outcome('submitted', { title, body }) };
};

/** The failures that labels request. */
function playScenario({ task, scenario }: StepContext): void {
  // What went wrong once is over when there is something to show; an attempt 0 after a failure is a person's unblock.
  const first = task.payload.pr === null;
  const failedBefore = task.payload.previousAttempts.some((attempt) => attempt.errorMessage !== null);
  if (scenario.broken && first && !(task.attempt === 0 && failedBefore))
    throw new AgentFailure(
      'permanent',
      'the demo tool chain is broken; repair it, then unblock the issue (demo:broken)',
    );
  if (scenario.flaky && first && task.attempt === 0)
    throw new AgentFailure('transient', 'connection reset by peer (demo:flaky)');
}

/** Returns the people whose commits on the branch touch files that conflict: their work is never dropped. */
async function strangersIn({ files, conflicts }: StepContext): Promise<string[]> {
  if (conflicts.length === 0) return [];
  const log = await files.git('log', '--format=%an <%ae>', `${files.base}..HEAD`, '--', ...conflicts);
  const authors = log.split('\n').filter((author) => author !== '');
  return [...new Set(authors)].filter((author) => !author.includes(OWN_EMAIL));
}

/** The chore's edits as far as they are planned, and a final newline for all that the branch has touched. */
async function editsOf(context: StepContext, chore: Chore): Promise<Edit[] | 'unplanned'> {
  const { task, scenario, files } = context;
  const tree = await files.tree();
  const wanted = chore.edits(tree);
  const planned = task.payload.plan?.plannedFiles;
  const edits = planned ? wanted.filter((edit) => planned.includes(edit.path)) : wanted;
  if (wanted.length > 0 && edits.length === 0) return 'unplanned';
  if (scenario.sloppy && task.payload.pr === null)
    return edits.map((edit, index) => (index === 0 ? { ...edit, text: edit.text.trimEnd() } : edit));
  const touched = await files.changedFiles();
  const untidy = touched.flatMap((path) => {
    const text = edits.some((edit) => edit.path === path) ? null : tree.read(path);
    return text === null ? [] : [{ path, text: withFinalNewline(text) }];
  });
  return [...edits, ...untidy.filter((edit) => tree.read(edit.path) !== edit.text)];
}
