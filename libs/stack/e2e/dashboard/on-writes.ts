import { comes, labelsBecome, type Stage } from './stage.ts';

const PAUSED = 'svc:paused';

/** Writes that the host refuses: one is retried, one discarded. */
export async function actOnWrites(stage: Stage, issues: readonly number[]): Promise<void> {
  const [retried = 0, discarded = 0] = issues;
  await refused(stage, retried);
  await stage.host.accept();
  await pressInRow(stage, retried, 'Retry');
  await stage.operator.confirm();
  await labelsBecome(stage, 'a retried write reaches the host', retried, (labels) => labels.includes(PAUSED));
  await refused(stage, discarded);
  await stage.host.accept();
  await pressInRow(stage, discarded, 'Discard');
  await stage.operator.confirm({ typed: 1 });
  await comes(stage, 'a discarded write is no longer open', async () => (await openWrites(stage)).length === 0);
  const { labels } = await stage.host.issue(discarded);
  stage.checks.equal('and the host never sees it', labels.includes(PAUSED), false);
}

interface Write {
  issueNumber: number;
  status: string;
}

const openWrites = async ({ operator }: Stage): Promise<Write[]> =>
  (await operator.api<{ projections: Write[] }>('/api/projections')).projections;

/** Pauses an issue whose label the host refuses, until the page reports it. */
async function refused(stage: Stage, issue: number): Promise<void> {
  const { operator, host } = stage;
  await host.refuseLabels(issue);
  await operator.open(`/issues/${host.slug}/${issue}`, `#${issue}`);
  await operator.press('Pause');
  await comes(stage, `a refused write of #${issue} is shown beside its action`, () =>
    operator.says(`Pause ${host.slug}#${issue}`, 'A write to the host failed'),
  );
}

async function pressInRow(stage: Stage, issue: number, name: string): Promise<void> {
  await stage.operator.open('/trouble/writes', 'Host writes');
  const row = stage.operator.page.getByRole('row').filter({ hasText: `#${issue}` });
  await row.getByRole('button', { name }).first().click();
}
