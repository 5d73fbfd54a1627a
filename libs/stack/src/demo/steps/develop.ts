import type { Checkout } from '../checkout.ts';
import type { Chore, Edit } from '../chores/chore.ts';
import { withFinalNewline } from '../chores/whitespace.ts';
import { AgentFailure } from '../failure.ts';
import { DEMO_AUTHOR_EMAIL } from '../git-env.ts';
import { outcome, requireChore, type Step, type StepContext } from './context.ts';

const SLOW_STEPS = 10;
const SLOW_STEP_MS = 2_000;

/** Does the chore on the issue's branch, on top of the newest default branch, and pushes it. */
export const develop: Step = async (context) => {
  const { issue, branch, checkout, emit } = context;
  await playScenario(context);
  emit({ type: 'progress', status: `Working on ${branch}` });
  const strangers = await startBranch(checkout, branch);
  if (strangers.length > 0)
    return outcome('needs-clarification', {
      question: `${branch} conflicts with the default branch and holds commits by ${strangers.join(', ')}. Please rebase it.`,
    });

  const chore = requireChore(context, await checkout.tree());
  const edits = await editsOf(context, chore);
  if (edits === 'unplanned')
    return outcome('replan', { reason: 'The plan names none of the files that need a change.' });
  await checkout.write(edits);
  await commit(context, chore);

  const changedFiles = await checkout.changedFiles(checkout.base, 'HEAD');
  if (changedFiles.length === 0)
    return outcome('needs-clarification', {
      question: `${chore.title}: the default branch has it already. Close this issue, or say what is missing.`,
    });
  const headSha = await push(checkout, branch);
  emit({ type: 'message', role: 'assistant', content: `Pushed ${headSha} with ${changedFiles.join(', ')}.` });
  const body = `${chore.title}.\n\nMade by the scripted demo agent (a simulation).\n\nRefs #${issue.number}`;
  return outcome('submitted', { branch, headSha, title: chore.title, body, changedFiles });
};

/** The failures that labels ask for. */
async function playScenario({ task, scenario, emit, pause }: StepContext): Promise<void> {
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
  for (let step = 1; scenario.slow && step <= SLOW_STEPS; step += 1) {
    emit({ type: 'progress', status: `Thinking slowly, ${step} of ${SLOW_STEPS} (demo:slow)` });
    await pause(SLOW_STEP_MS);
  }
}

/**
 * Checks out the branch, rebased. Where that conflicts the demo's own commits are dropped, for the chore makes them
 * again; people's are never dropped: then their authors are returned and the work tree is of no use.
 */
async function startBranch(checkout: Checkout, branch: string): Promise<string[]> {
  const remote = checkout.remote(branch);
  if ((await checkout.commitOf(remote)) === null) {
    await checkout.at(checkout.base);
    return [];
  }
  await checkout.at(remote);
  try {
    await checkout.git('rebase', '-q', checkout.base);
    return [];
  } catch {
    await checkout.git('rebase', '--abort').catch(() => '');
    const authors = (await checkout.git('log', '--format=%an <%ae>', `${checkout.base}..${remote}`)).trim().split('\n');
    const strangers = [...new Set(authors)].filter((author) => !author.includes(DEMO_AUTHOR_EMAIL));
    await checkout.at(checkout.base);
    return strangers;
  }
}

/** The chore's edits as far as they are planned, and a final newline for all that the branch has touched. */
async function editsOf(context: StepContext, chore: Chore): Promise<Edit[] | 'unplanned'> {
  const { task, scenario, checkout } = context;
  const tree = await checkout.tree();
  const wanted = chore.edits(tree);
  const planned = task.payload.plan?.plannedFiles;
  const edits = planned ? wanted.filter((edit) => planned.includes(edit.path)) : wanted;
  if (wanted.length > 0 && edits.length === 0) return 'unplanned';
  if (scenario.sloppy && task.payload.pr === null)
    return edits.map((edit, index) => (index === 0 ? { ...edit, text: edit.text.trimEnd() } : edit));
  const touched = await checkout.changedFiles(checkout.base, 'HEAD');
  const untidy = touched.flatMap((path) => {
    const text = edits.some((edit) => edit.path === path) ? null : tree.read(path);
    return text === null ? [] : [{ path, text: withFinalNewline(text) }];
  });
  return [...edits, ...untidy.filter((edit) => tree.read(edit.path) !== edit.text)];
}

async function commit({ task, issue, checkout }: StepContext, chore: Chore): Promise<void> {
  await checkout.git('add', '--all');
  if ((await checkout.git('status', '--porcelain')) === '') return;
  const subject = task.payload.reviewComments.length > 0 ? `Address the review: ${chore.title}` : chore.title;
  await checkout.git('commit', '-q', '-m', subject, '-m', `Refs #${issue.number}`);
}

/** Pushes unless the host has this very commit; somebody else's push in between makes it fail, not vanish. */
async function push(checkout: Checkout, branch: string): Promise<string> {
  const head = (await checkout.git('rev-parse', 'HEAD')).trim();
  const known = await checkout.commitOf(checkout.remote(branch));
  if (known === head) return head;
  const lease = `--force-with-lease=refs/heads/${branch}:${known ?? ''}`;
  await checkout.git('push', '-q', lease, 'origin', `HEAD:refs/heads/${branch}`);
  return head;
}
