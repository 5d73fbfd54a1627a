import { comes, labelsBecome, type Stage } from './stage.ts';

interface Why {
  state: string;
  isPaused: boolean;
  isBlocked: boolean;
}

const PAUSED = 'svc:paused';
const REASON = 'seen by the end-to-end check';

/** The actions of the page of an issue, and one on several issues of the list. */
export async function actOnIssues(stage: Stage, issues: readonly number[]): Promise<void> {
  const [paused = 0, retried = 0, moved = 0, cancelled = 0, ...many] = issues;
  await pause(stage, paused);
  await retry(stage, retried);
  await moveAndUnblock(stage, moved);
  await cancel(stage, cancelled);
  await pauseMany(stage, many);
}

const whyOf = ({ operator, host }: Stage, issue: number): Promise<Why> =>
  operator.api(`/api/issues/${host.slug}/${issue}/why`);

const open = ({ operator, host }: Stage, issue: number): Promise<void> =>
  operator.open(`/issues/${host.slug}/${issue}`, `#${issue}`);

async function pause(stage: Stage, issue: number): Promise<void> {
  const { operator } = stage;
  await open(stage, issue);
  await operator.press('Pause');
  await labelsBecome(stage, 'a paused issue has the label on the host', issue, (labels) => labels.includes(PAUSED));
  await operator.undo('Pause');
  await labelsBecome(stage, 'undo takes the label away', issue, (labels) => !labels.includes(PAUSED));
  stage.checks.equal('and the issue is not paused', (await whyOf(stage, issue)).isPaused, false);
}

async function retry(stage: Stage, issue: number): Promise<void> {
  const { checks, operator, host } = stage;
  await open(stage, issue);
  await operator.press('Retry');
  await operator.confirm({ reason: REASON });
  await comes(stage, 'a retry reaches the host', () => operator.says('Retry', 'On the host'));
  const { items } = await operator.api<{ items: { target: string; reason: string }[] }>('/api/audit?action=retry');
  checks.that(
    'a retry is in the audit with its reason',
    items[0]?.target === `${host.slug}#${issue}` && items[0].reason === REASON,
    items,
  );
}

async function moveAndUnblock(stage: Stage, issue: number): Promise<void> {
  const { operator } = stage;
  const before = (await stage.host.issue(issue)).labels;
  await open(stage, issue);
  await operator.press('Move …');
  await operator.confirm({ choice: 'Failure blocked', reason: REASON });
  await labelsBecome(stage, 'a moved issue has the label of its new state', issue, (labels) =>
    labels.includes('svc:failure-blocked'),
  );
  await operator.press('Unblock');
  await operator.confirm();
  await labelsBecome(
    stage,
    'an unblocked issue has its earlier labels',
    issue,
    (labels) => String(labels) === String(before),
  );
  stage.checks.equal('and is not blocked', (await whyOf(stage, issue)).isBlocked, false);
}

async function cancel(stage: Stage, issue: number): Promise<void> {
  const { operator, host } = stage;
  await open(stage, issue);
  await operator.press('Cancel …');
  await operator.confirm({ typed: 1, reason: REASON });
  await comes(stage, 'a cancelled issue is closed on the host', async () => !(await host.issue(issue)).isOpen);
  stage.checks.equal('and done', (await whyOf(stage, issue)).state, 'done');
}

async function pauseMany(stage: Stage, issues: readonly number[]): Promise<void> {
  const { operator } = stage;
  await operator.open('/issues', 'Issues');
  for (const issue of issues) {
    const row = operator.page.getByRole('row').filter({ hasText: `#${issue}` });
    await row.getByRole('checkbox').click();
  }
  await operator.press('Pause');
  await operator.confirm({ reason: REASON });
  await comes(stage, 'the page counts the paused issues', () =>
    operator.says(`Pause ${issues.length} issues`, `${issues.length} changed`),
  );
  for (const issue of issues)
    await labelsBecome(stage, `of several paused issues #${issue} has the label`, issue, (labels) =>
      labels.includes(PAUSED),
    );
}
