import { afterEach, expect } from '@jest/globals';
import {
  DEFAULT_SETTINGS,
  type HostIssue,
  type Invocation,
  type IssueAction,
  type Outcome,
  type RetrospectiveResult,
  type Settings,
  type TaskType,
  type VcsHost,
} from '@pipeline/domain';
import {
  applyHostEvent,
  beginSending,
  type ClaimedTask,
  claim,
  type Engine,
  passMergeGate,
  putRepo,
  registerWorker,
  report,
  sendable,
  settle,
  start,
} from '@pipeline/engine';
import { checkIssueList, ensureTenant, type RepoRow, type Store } from '@pipeline/store';
import type { TestDatabase } from '@pipeline/testing';
import { FakeHost } from './fake-host.ts';

export const ALL_TASKS: TaskType[] = ['analyze', 'plan', 'develop', 'review', 'merge'];

/** A worker's registration without its name. */
export const WORKER = { hostname: '', version: '1', repos: [], taskTypes: ALL_TASKS, labels: {} };

/** One model call with this cost, in USD, and the tokens that may cost as much. */
export const paid = (costUsd: number): Invocation => ({
  index: 0,
  model: 'm',
  provider: 'p',
  inputTokens: 1 + Math.ceil(costUsd * 1_000_000),
  outputTokens: 1,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  turns: 1,
  costUsd,
  stopReason: 'completed',
});

export interface Bench {
  engine: Engine;
  tenantId: number;
  repo: RepoRow;
  workerId: string;
  host: FakeHost;
  /** Notifications that were sent, in order. */
  bells: string[];
}

/** One tenant with one repo and one worker, and a host that accepts everything. */
export async function makeBench(
  store: Store,
  options: { slug?: string; tenant?: string; settings?: Partial<Settings> } = {},
): Promise<Bench> {
  const bells: string[] = [];
  const engine: Engine = {
    store,
    notify: (bell) => void bells.push(bell),
    settings: () => ({ ...DEFAULT_SETTINGS, ...options.settings }),
    random: () => 0.5,
  };
  const [owner = 'acme', name = 'shop'] = (options.slug ?? 'acme/shop').split('/');
  const tenantId = await ensureTenant(store.db, options.tenant ?? owner);
  const repo = await putRepo(engine, tenantId, {
    slug: { owner, name },
    vcsHost: 'sandbox',
    cloneUrl: `http://127.0.0.1/${owner}/${name}.git`,
    defaultBranch: 'main',
    setupCommand: null,
    poolSize: null,
    installationId: null,
    enabled: true,
    // Its checks are the topic of few tests.
    checks: 'none',
  });
  const workerId = await registerWorker(engine, tenantId, { ...WORKER, name: 'w1' });
  return { engine, tenantId, repo, workerId, host: new FakeHost(), bells };
}

/** Stands for "now" by the host's clock. */
const NOW = '2026-01-01T00:00:00.000Z';

export const hostIssue = (number: number, over: Partial<HostIssue> = {}): HostIssue => ({
  number,
  title: `Issue ${number}`,
  body: 'Please do it.',
  url: `http://host/${number}`,
  state: 'open',
  stateReason: null,
  labels: ['svc:enqueue'],
  author: 'alice',
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: NOW,
  closedAt: null,
  ...over,
});

/** The event of a webhook or poll about an issue; its host time is now, unless the issue has one. */
export function applyHostIssue(
  { engine, repo, host }: Pick<Bench, 'engine' | 'repo' | 'host'>,
  shown: HostIssue,
  how: { action?: IssueAction; label?: string; sender?: string | null } = {},
): Promise<void> {
  const { action = 'opened', label = null, sender = 'alice' } = how;
  const updatedAt = shown.updatedAt === NOW ? host.tick() : shown.updatedAt;
  const closedAt = shown.state === 'closed' ? (shown.closedAt ?? updatedAt) : null;
  const issue = { ...shown, updatedAt, closedAt };
  const changed = host.log(issue, { action, label, actor: sender });
  const event = { kind: 'issue', action, repo, issue, sender, label, changed } as const;
  return applyHostEvent({ engine, repo, host }, event);
}

/** Claims the next task, if there is one. */
export const claimNext = (
  { engine, tenantId, workerId }: Pick<Bench, 'engine' | 'tenantId' | 'workerId'>,
  taskTypes: TaskType[] = ALL_TASKS,
): Promise<ClaimedTask | null> => claim(engine, { tenantId, workerId, taskTypes, repoIds: null });

/** Claims and starts the next task. */
export async function take(bench: Bench, taskTypes: TaskType[] = ALL_TASKS): Promise<ClaimedTask> {
  const task = await claimNext(bench, taskTypes);
  if (!task) throw new Error('there is nothing to claim');
  await start(bench.engine, refOf(bench, task));
  return task;
}

export const refOf = ({ tenantId }: Bench, task: ClaimedTask) => ({
  tenantId,
  taskId: task.id,
  claimToken: task.claimToken,
});

export const finish = (bench: Bench, task: ClaimedTask, outcome: Outcome) =>
  report(bench.engine, refOf(bench, task), { ...outcome, artefacts: [], findings: [], invocations: [] });

export const RETROSPECTIVE: RetrospectiveResult = {
  outcomeClassification: 'success',
  summary: 'As planned.',
  plannedFiles: null,
  actualFiles: null,
  failures: null,
  lessons: null,
};

/** The successful outcome of each task type. */
export function goodOutcome(taskType: TaskType, issueNumber: number): Outcome {
  switch (taskType) {
    case 'analyze':
      return { outcome: 'analyzed', result: {} };
    case 'plan':
      return { outcome: 'planned', result: { plan: 'do it', plannedFiles: ['README.md'] } };
    case 'develop':
      return {
        outcome: 'submitted',
        result: {
          branch: `svc/issue-${issueNumber}`,
          headSha: 'abc1234',
          title: 'Done',
          body: '',
          changedFiles: ['README.md'],
        },
      };
    case 'review':
      return { outcome: 'approved', result: { body: '' } };
    case 'merge':
      return { outcome: 'mergeable', result: { headSha: 'abc1234' } };
    case 'retrospect':
      return { outcome: 'retrospective', result: RETROSPECTIVE };
    default:
      throw new Error(`no outcome for ${taskType}`);
  }
}

/** Sends everything in the outbox to the host, by default the fake one. */
export async function drain({ engine, host }: Pick<Bench, 'engine'> & { host: VcsHost }): Promise<void> {
  for (;;) {
    const ready = await sendable(engine, 'sandbox', 100);
    if (ready.length === 0) return;
    for (const { tenant_id, id } of ready) {
      const sending = await beginSending(engine, tenant_id, id);
      if (!sending) continue;
      const action = await passMergeGate(engine, sending, host);
      if (action === null) continue;
      const { projection, repo, mayHaveHappened } = sending;
      const result = await host.execute(repo, projection.issue_number, action, { mayHaveHappened });
      await settle(engine, sending, result);
    }
  }
}

/** Completes the next task successfully. @returns the state of its issue. */
export async function step(bench: Bench) {
  await drain(bench);
  const task = await take(bench);
  const answer = await finish(bench, task, goodOutcome(task.taskType, task.issueNumber ?? 0));
  await drain(bench);
  return answer.state;
}

/** Completes the issue's tasks successfully until it is in that state. */
export async function workUntil(bench: Bench, state: string): Promise<void> {
  for (let i = 0; i < 20; i += 1) {
    if ((await step(bench)) === state) return;
  }
  throw new Error(`never reached ${state}`);
}

let comments = 0;

/** The event of a webhook about a new comment. */
export function say(
  { engine, repo, host }: Bench,
  issueNumber: number,
  body: string,
  { author = 'alice', onPullRequest = false, issueAuthor = 'alice' } = {},
): Promise<void> {
  comments += 1;
  // After any time that a test has set.
  const at = '2027-01-02T00:00:00.000Z';
  return applyHostEvent(
    { engine, repo, host },
    {
      kind: 'comment',
      repo,
      issueNumber,
      onPullRequest,
      comment: { id: comments, author, body, createdAt: at, updatedAt: at },
      issueAuthor,
      sender: author,
    },
  );
}

/** After every test, lists and counts must agree with the rows. */
export const listsAgreeAfterEach = (database: TestDatabase): void =>
  afterEach(async () => {
    for (const { id } of await database.db.selectFrom('tenants').select('id').execute()) {
      const found = await checkIssueList(database.db, id);
      expect(found).toEqual({ missing: 0, surplus: 0, stale: 0, miscounted: 0 });
    }
  });
