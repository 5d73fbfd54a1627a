import { join } from 'node:path';
import { withClone } from '../host-clone.ts';
import type { E2e } from '../journey.ts';
import { poll } from '../poll.ts';
import { clearUp, StackProcess } from '../stack-process.ts';
import { StoreView } from '../store-view.ts';
import { HostView } from './host-view.ts';
import { firstRunShows, showsChanges } from './live-pages.ts';
import { addRepo, findOrphan } from './on-configuration.ts';
import { actOnIssues } from './on-issues.ts';
import { answerPlans } from './on-plans.ts';
import { Operator } from './operator.ts';
import { ScriptedWorker } from './scripted-worker.ts';
import { comes, labelsBecome, type Stage } from './stage.ts';

const TRACK = 'gaps';
const TRACK_TITLE = 'Close a gap in the tests';
const GOAL = 'Fewer regressions';

const PAUSED = 'svc:paused';

interface Write {
  issueNumber: number;
  status: string;
}

const NAME = 'analyzer-of-the-operator';

const FINDING = {
  findingType: 'gap',
  category: 'tests',
  severity: 'high' as const,
  confidence: 0.9,
  title: 'Totals have no test',
  summary: 'Nothing checks what totals.ts returns.',
};
const ITEM = {
  kind: 'invariant' as const,
  title: 'Totals are never negative',
  summary: 'Callers rely on it.',
  confidence: 0.9,
};
const REASON = 'seen by the end-to-end check';

interface Known {
  id: string;
  title: string;
  status: string;
}

const TITLE = 'Totals are read once';

const ISSUES = 12;
const WITHIN_MS = 60_000;

/** Actions and repairs of operators on every kind of thing that has one, pressed in a browser and seen over the API and on the host. */
export async function dashboard(e2e: E2e): Promise<void> {
  const { checks, dataDir } = e2e;
  const stack = new StackProcess(e2e, ['--json', '--no-demo']);
  let operator: Operator | undefined;
  try {
    const { report } = await stack.ready();
    const host = new HostView(report, await stack.state());
    operator = await Operator.begin(report.monitor);
    const stage = { checks, operator, host, report, dataDir, env: e2e.env };
    const missing = {
      Database: 'done',
      'Version-control host': 'done',
      Repository: 'done',
      Worker: 'missing',
    } as const;
    await firstRunShows(stage, 'the first run lacks a worker', missing);
    const issues: number[] = [];
    for (let n = 1; n <= ISSUES; n += 1) issues.push(await host.open(`Issue ${n} of the operator`));
    const store = new StoreView(report.database.url);
    const isTakenIn = async () => {
      const { projections, deliveries } = await store.open();
      const analyzing = (await store.issues()).filter(({ state }) => state === 'analyzing');
      return analyzing.length === ISSUES && projections + deliveries === 0;
    };
    await poll('all issues are analyzed, and the host shows it', isTakenIn, { withinMs: WITHIN_MS });
    await showsChanges(stage, issues.at(-1) ?? 0);
    await actOnIssues(stage, issues.slice(0, 6));
    await actOnWrites(stage, issues.slice(6, 8));
    await actOnWorkers(stage);
    await answerPlans(stage);
    await retryDeadLetter(stage);
    await judgeKnowledge(stage);
    await makeTrack(stage);
    await writeCharter(stage);
    await addRepo(stage);
    await findOrphan(stage);
    checks.equal('the browser has nothing to complain about', operator.takeComplaints(), []);
    const end = await stack.stop();
    checks.that('SIGTERM ends the stack', end.code === 0, end);
  } catch (error) {
    await operator?.page.screenshot({ path: join(dataDir, 'page.png') }).catch(() => undefined);
    throw error;
  } finally {
    await operator?.close();
    await clearUp(dataDir);
  }
}

/** A pull request that the host refuses becomes a dead letter; its retry opens the pull request. */
async function retryDeadLetter(stage: Stage): Promise<void> {
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

/** Judges reports of agents as an operator: dismisses a finding, and approves an item that was observed twice. */
async function judgeKnowledge(stage: Stage): Promise<void> {
  const { operator, host, report } = stage;
  const worker = await ScriptedWorker.register(report.hosted, 'observer-of-the-operator', ['analyze']);
  for (let time = 1; time <= 2; time += 1) {
    const reported = { findings: [FINDING], intelligence: [ITEM] };
    await worker.perform('analyze', () => ({ outcome: 'analyzed', result: {}, ...reported }));
  }
  const known = async (kind: 'findings' | 'intelligence', title: string): Promise<Known | undefined> => {
    const { items } = await operator.api<{ items: Known[] }>(`/api/${kind}?repo=${host.slug}`);
    return items.find((item) => item.title === title);
  };
  const finding = await known('findings', FINDING.title);
  await operator.open(`/knowledge/findings?repo=${host.slug}&finding=${finding?.id}`, 'Findings');
  await operator.press('Dismiss');
  await operator.confirm({ reason: REASON });
  await comes(stage, 'a dismissed finding is dismissed', async () => {
    return (await known('findings', FINDING.title))?.status === 'dismissed';
  });
  const item = await known('intelligence', ITEM.title);
  stage.checks.equal('an item that was observed twice is proposed', item?.status, 'proposed');
  await operator.open(`/knowledge/items/${item?.id}?repo=${host.slug}`, ITEM.title);
  await operator.press('Approve');
  await operator.confirm();
  await comes(stage, 'an approved item is approved', async () => {
    return (await known('intelligence', ITEM.title))?.status === 'approved';
  });
}

/** A worker is drained and resumed; its task is not taken away while it makes progress. */
async function actOnWorkers(stage: Stage): Promise<void> {
  const { checks, operator, report } = stage;
  const worker = await ScriptedWorker.register(report.hosted, NAME, ['analyze']);
  await firstRunShows(stage, 'the first run ticks the worker off', { Worker: 'done', 'First issue': 'missing' });
  await operator.open('/workers', 'Workers');
  await operator.press('Drain');
  const isDraining = async () => {
    const { items } = await operator.api<{ items: { status: string }[] }>('/api/workers/floor');
    return items[0]?.status === 'draining';
  };
  await comes(stage, 'a drained worker is draining', isDraining);
  checks.equal('and gets no task', await worker.claim('analyze'), null);
  await operator.undo('Drain');
  await comes(stage, 'after undo it gets a task', async () => (await worker.claim('analyze')) !== null);
  await operator.press('Reclaim …');
  await operator.confirm();
  await comes(stage, 'a task that makes progress is not reclaimed', () =>
    operator.says('Reclaim the task of', 'nothing was stalled'),
  );
}

/** Writes that the host refuses: one is retried, one discarded. */
async function actOnWrites(stage: Stage, issues: readonly number[]): Promise<void> {
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

/** A track is created, and its first prompt version written and activated: then the host has an issue of it. */
async function makeTrack(stage: Stage): Promise<void> {
  const { checks, operator, host } = stage;
  await operator.open(`/steering/tracks?repo=${host.slug}`, 'Tracks');
  await operator.press('Add a track');
  await operator.fill('Name', TRACK);
  await operator.confirm();
  await operator.page.getByRole('link', { name: TRACK }).click();
  await operator.page.getByRole('heading', { level: 1, name: `Track ${TRACK}` }).waitFor();
  checks.equal('a track without a prompt creates no issue', (await host.titles('issues')).includes(TRACK_TITLE), false);
  await operator.press('Write a version');
  await operator.fill('Title of its issues', TRACK_TITLE);
  await operator.fill('Instructions to agents', 'Prefer small tests.');
  await operator.confirm();
  await operator.page.getByRole('button', { name: 'Activate version 1' }).click();
  await operator.confirm();
  await comes(stage, 'an active track opens its issue on the host', async () =>
    (await host.titles('issues')).includes(TRACK_TITLE),
  );
}

/** A charter limits what may be proposed for a repository. */
async function writeCharter(stage: Stage): Promise<void> {
  const { operator, host } = stage;
  await operator.open(`/steering/strategy?repo=${host.slug}`, 'Strategy');
  await operator.press('Write a charter');
  await operator.fill('Goals', GOAL);
  await operator.confirm();
  await comes(stage, 'a charter is in force', async () => {
    const charter = await operator.api<object>(`/api/strategy/${host.slug}/charter`);
    return JSON.stringify(charter).includes(GOAL);
  });
}
