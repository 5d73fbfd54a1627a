import { chosen, only, type Step } from './context.ts';
import { planText } from './plan-text.ts';

/** Names the files that will change. An earlier plan is replaced: the repository may have changed. */
export const plan: Step = async (context) => {
  const tree = await context.files.tree();
  const task = { ...context.task, payload: { ...context.task.payload, plan: null } };
  const choice = chosen({ ...context, task }, tree);
  if ('question' in choice) return only('needs-clarification', { question: choice.question });
  const files = choice.chore.edits(tree).map((edit) => edit.path);
  if (files.length === 0)
    return only('needs-clarification', {
      question: `${choice.chore.title}: nothing is left to do. Close this issue, or say what is missing.`,
    });
  return only('planned', { plan: planText(choice.chore, files), plannedFiles: files });
};
