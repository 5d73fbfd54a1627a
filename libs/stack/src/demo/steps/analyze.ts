import { chosen, only, outcome, type Step } from './context.ts';

const DEPENDS = /\b(?:depends on|blocked by)\s+((?:[\w.-]+\/[\w.-]+)?#\d+)/gi;

/** References that a text names as prerequisites, each once. */
function dependenciesIn(text: string): string[] {
  return [...new Set([...text.matchAll(DEPENDS)].map(([, reference]) => reference ?? ''))];
}

/** Looks at the issue: a question, a prerequisite, nothing to do, or work for the planner. */
export const analyze: Step = async (context) => {
  const { task, scenario, files } = context;
  const tree = await files.tree();

  if (scenario.unclear && task.payload.answers.length === 0)
    return only('needs-clarification', {
      question: 'This issue is labelled as unclear. What exactly should change, and in which file?',
    });
  const asked = task.payload.previousAttempts.some((attempt) => attempt.outcome === 'depends');
  const on = asked ? [] : await openDependencies(context);
  if (on.length > 0) return only('depends', { on });

  const choice = chosen(context, tree);
  if ('question' in choice) {
    // The answer names no chore either: a second question would not help.
    if (task.payload.answers.length > 0)
      return only('not-planned', { reason: `No chore of the demo agent fits. ${choice.question}` });
    return only('needs-clarification', { question: choice.question });
  }
  const edits = choice.chore.edits(tree);
  if (edits.length === 0)
    return only('not-planned', { reason: `${choice.chore.title}: nothing to do, it is so already.` });
  return {
    texts: [`${choice.chore.title}: ${edits.length} files would change.`],
    outcome: outcome('analyzed', { summary: `${choice.chore.title} (${edits.length} files).` }),
  };
};

/** Prerequisites in this repository count as done once a commit that refers to them is on the default branch. */
async function openDependencies({ issue, files }: Parameters<Step>[0]): Promise<string[]> {
  const open: string[] = [];
  for (const reference of dependenciesIn(issue.body)) {
    if (reference === `#${issue.number}`) continue;
    const local = reference.startsWith('#');
    const pattern = `Refs ${reference}([^0-9]|$)`;
    const merged = local && (await files.git('log', '-1', '-E', '--format=%H', `--grep=${pattern}`, files.base));
    if (!merged) open.push(reference);
  }
  return open;
}
