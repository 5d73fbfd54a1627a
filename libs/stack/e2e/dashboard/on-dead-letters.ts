import { withClone } from '../host-clone.ts';
import { ScriptedWorker } from './scripted-worker.ts';
import { comes, type Stage } from './stage.ts';

const TITLE = 'Totals are read once';

/** A pull request that the host refuses becomes a dead letter; its retry opens the pull request. */
export async function retryDeadLetter(stage: Stage): Promise<void> {
  const { operator, host, report } = stage;
  const developer = await ScriptedWorker.register(report.hosted, 'developer-of-the-operator', ['develop']);
  await host.refusePulls();
  const { issueNumber } = await developer.perform('develop', async (task) => {
    const branch = `svc/issue-${task.issueNumber}`;
    const headSha = await pushCommit(stage, branch);
    const text = { title: TITLE, body: `Refs #${task.issueNumber}` };
    return { outcome: 'submitted', result: { branch, headSha, ...text, changedFiles: ['totals.ts'] } };
  });
  const issue = issueNumber ?? 0;
  const isDead = async () => {
    const { items } = await operator.api<{ items: { issueNumber: number }[] }>('/api/dead-letters');
    return items.some((item) => item.issueNumber === issue);
  };
  await comes(stage, 'a refused pull request is a dead letter', isDead);
  await host.accept();
  await operator.open('/trouble/dead-letters', 'Dead letters');
  const entry = operator.page.getByRole('listitem').filter({ hasText: `#${issue}` });
  await entry.getByRole('button', { name: 'Retry …' }).click();
  await operator.confirm({ reason: 'the host accepts pull requests again' });
  const isOpened = async () => (await host.titles('pulls')).includes(TITLE);
  await comes(stage, 'its retry opens the pull request on the host', isOpened);
  await comes(stage, 'and it is no longer open', async () => !(await isDead()));
}

/** Pushes a commit without changes to a branch. @returns its hash. */
async function pushCommit({ env, host, report }: Stage, branch: string): Promise<string> {
  return await withClone({ report, searchPath: env.PATH ?? '' }, async (git) => {
    const author = ['-c', 'user.name=developer', '-c', 'user.email=developer@example.org'];
    const tree = ['commit-tree', 'HEAD^{tree}', '-p', 'HEAD', '-m', 'Read totals once'];
    const sha = (await git(...author, ...tree)).trim();
    await git('push', '-q', host.pushUrl, `${sha}:refs/heads/${branch}`);
    return sha;
  });
}
