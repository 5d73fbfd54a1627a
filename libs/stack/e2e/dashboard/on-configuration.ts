import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readProcesses } from '../../src/supervision/process-list.ts';
import { comes, labelsBecome, type Stage } from './stage.ts';

const SLUG = 'demo/second';
const ANALYZING = 'svc:analyzing';

/** A second repo is added, disabled, enabled again and removed. */
export async function addRepo(stage: Stage): Promise<void> {
  const { checks, operator } = stage;
  const host = await stage.host.addRepo(SLUG);
  const there = { ...stage, host };
  await operator.open('/system/config', 'Configuration');
  await operator.press('Add a repository');
  await operator.fill('Repository', SLUG);
  await operator.flip('Also where the branch does not require svc/review');
  await operator.confirm();
  await operator.page.getByRole('switch', { name: `Import issues of ${SLUG}` }).waitFor({ state: 'attached' });
  const isTakenIn = (labels: string[]) => labels.includes(ANALYZING);
  const first = await host.open('The first issue of the second repo');
  await labelsBecome(there, 'an added repo imports its issues', first, isTakenIn);

  await operator.flip(`Import issues of ${SLUG}`);
  await comes(stage, 'a disabled repo is disabled', async () => !(await isEnabled(stage)));
  const second = await host.open('Comes too late');
  await operator.undo(`Disable ${SLUG}`);
  await labelsBecome(there, 'undo imports what came meanwhile', second, isTakenIn);

  await remove(stage);
  await comes(stage, 'a repo with issues in progress is not removed', () =>
    operator.says(`Remove ${SLUG}`, 'in progress'),
  );
  // Browsers report each refused request.
  const complaints = operator.takeComplaints();
  checks.that(
    'and the browser reports it',
    complaints.length === 1 && complaints[0]?.includes(SLUG) === true,
    complaints,
  );
  for (const issue of [first, second]) await operator.act(`/api/issues/${SLUG}/${issue}/cancel`);
  await remove(stage);
  await comes(stage, 'a repo without work is removed', async () => (await repoOf(stage)) === undefined);
}

async function remove({ operator }: Stage): Promise<void> {
  await operator.open('/system/config', 'Configuration');
  await operator.press(`Remove ${SLUG}`);
  await operator.confirm({ typed: 1 });
}

async function repoOf({ operator }: Stage): Promise<{ enabled: boolean } | undefined> {
  const { items } = await operator.api<{ items: { repo: string; enabled: boolean }[] }>('/api/repos');
  return items.find(({ repo }) => repo === SLUG);
}

const isEnabled = async (stage: Stage): Promise<boolean> => (await repoOf(stage))?.enabled === true;

/** The search for orphans is switched on in the file; after a restart an issue that was never handed over is found. */
export async function findOrphan(stage: Stage): Promise<void> {
  const { operator, host, dataDir } = stage;
  await appendFile(join(dataDir, 'pipeline.yaml'), 'consistency:\n  orphans: true\n');
  await operator.open('/system/config', 'Configuration');
  await operator.press('Reload the configuration');
  await operator.confirm();
  await comes(stage, 'a reload names the key that waits for a restart', () =>
    operator.says('Reload the configuration', 'deferred until a restart: consistency'),
  );
  const orphan = await host.openUnlabelled('Nobody has handed this over');
  await operator.leave();
  await restartMonitor(stage);
  const isListed = async () => {
    const path = '/api/consistency?kind=orphan_missing_from_pg';
    const { items } = await operator.api<{ items: { issueNumber: number }[] }>(path);
    return items.some(({ issueNumber }) => issueNumber === orphan);
  };
  await comes(stage, 'after the restart the issue is a finding', isListed);
  await operator.logIn();
  await operator.open('/trouble/consistency', 'Consistency');
  const entry = operator.page.getByRole('listitem').filter({ hasText: `#${orphan}` });
  await entry.getByRole('button', { name: 'Enqueue …' }).click();
  await operator.confirm({ reason: 'it was forgotten' });
  await labelsBecome(stage, 'its repair hands it to the pipeline', orphan, (labels) => labels.includes(ANALYZING));
  await comes(stage, 'and it is no finding any more', async () => !(await isListed()));
}

/** Ends the monitor; the stack starts it again. */
async function restartMonitor(stage: Stage): Promise<void> {
  const { dataDir } = stage;
  const { pid } = readProcesses(dataDir).monitor ?? {};
  if (pid === undefined) throw new Error('the list of processes has no monitor');
  process.kill(pid, 'SIGTERM');
  const isBack = async () => readProcesses(dataDir).monitor?.pid !== pid && (await answers(stage));
  await comes(stage, 'the monitor comes back after a restart', isBack);
}

const answers = ({ report }: Stage): Promise<boolean> =>
  fetch(`${report.monitor.url}/ready`).then(
    ({ ok }) => ok,
    () => false,
  );
