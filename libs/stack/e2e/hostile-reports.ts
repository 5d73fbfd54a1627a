import { isDeepStrictEqual } from 'node:util';
import { branchOf, type TaskType } from '@pipeline/domain';
import type { StackReport } from '../src/start/report.ts';
import type { Checks } from './checks.ts';
import { poll } from './poll.ts';
import type { StoreView } from './store-view.ts';

const WITHIN_MS = 60_000;
const MEBIBYTE = 1024 * 1024;
/** USD of a call, more than any limit. */
const HUGE = 1e308;

interface Task {
  id: string;
  claimToken: string;
  issueNumber: number;
}

interface Scene {
  checks: Checks;
  report: StackReport;
  store: StoreView;
}

/** A report of the holder of the claim `own`, about itself or others. */
interface Attack {
  name: string;
  path: string;
  body: object;
  /** Accepted = what the report claims about others is to be ignored; else it is to be refused. */
  isAccepted?: boolean;
}

/**
 * A worker with a claim of its own sends raw reports about the objects of others: the pull request of the issue `victim`,
 * and the claim of another worker. Prints the effect of each.
 */
export async function hostileReports({ checks, report, store }: Scene, victim: number): Promise<void> {
  const service = new Service(report);
  const other = await service.claim('other', 'analyze', await service.openIssue('Of another worker'));
  const issue = await service.openIssue('Of the hostile worker');
  const workerId = await service.register('hostile');
  const own = await service.develops(workerId, issue);
  const numbers = [victim, other.issueNumber];
  const [pull] = (await store.pulls()).filter((each) => each.issue === victim);
  if (!pull) throw new Error(`issue ${victim} has no pull request`);
  await quiet(store);
  const before = await stateOf(service, store, numbers, pull.number);
  for (const { name, path, body, isAccepted = false } of attacks(own, { other, workerId, pull, victim })) {
    const { status } = await service.post(path, body);
    const isExpected = isAccepted ? status === 200 : status >= 400 && status < 500;
    await quiet(store);
    const after = await stateOf(service, store, numbers, pull.number);
    const effects = Object.keys({ ...before, ...after }).filter((key) => !isDeepStrictEqual(before[key], after[key]));
    const effect = effects.length > 0 ? `EFFECT on ${effects.join(', ')}` : 'no effect';
    checks.that(`report: ${name}: answered ${status}, ${effect}`, isExpected && effects.length === 0);
  }
}

interface Others {
  other: Task;
  workerId: string;
  pull: { number: number; headSha: string };
  victim: number;
}

function attacks(own: Task, { other, workerId, pull, victim }: Others): Attack[] {
  const on = ({ id }: Task, action: string) => `/api/worker/tasks/${id}/${action}`;
  const { claimToken } = own;
  const result = { branch: branchOf(own.issueNumber), headSha: pull.headSha, title: 't', body: '', changedFiles: [] };
  const foreign = { prNumber: pull.number, pullRequest: pull.number, issueNumber: victim, issueId: victim };
  const submitted = { claimToken, outcome: 'submitted', result };
  const finding = { findingType: 'bug', category: 'c', severity: 'low', confidence: 1, title: 't' };
  const usage = { inputTokens: HUGE, outputTokens: HUGE, costUsd: HUGE };
  const call = { index: 0, model: 'm', provider: 'p', turns: 1, stopReason: 'completed', ...usage };
  const analyzed = { outcome: 'analyzed', result: {} };
  return [
    {
      name: 'branch of another issue',
      path: on(own, 'complete'),
      body: { ...submitted, result: { ...result, branch: branchOf(victim) } },
    },
    {
      name: 'findings of 10 MiB',
      path: on(own, 'complete'),
      body: { ...submitted, findings: [{ ...finding, summary: 'x'.repeat(10 * MEBIBYTE) }] },
    },
    {
      name: 'claim token of another claim',
      path: on(own, 'complete'),
      body: { ...submitted, claimToken: other.claimToken },
    },
    { name: 'outcome for the task of another claim', path: on(other, 'complete'), body: { claimToken, ...analyzed } },
    {
      name: 'progress of the task of another claim',
      path: on(other, 'progress'),
      body: { claimToken, status: 'evil' },
    },
    { name: 'credentials of the task of another claim', path: on(other, 'credentials'), body: { claimToken } },
    {
      name: 'heartbeat for the task of another claim',
      path: '/api/worker/heartbeat',
      body: { workerId, status: 'busy', tasks: [{ taskId: other.id, claimToken }] },
      isAccepted: true,
    },
    {
      name: 'usage of 1e308',
      path: on(own, 'progress'),
      body: { claimToken, status: 'evil', invocations: [call] },
      isAccepted: true,
    },
    {
      name: 'pull request of another issue',
      path: on(own, 'complete'),
      body: { ...submitted, ...foreign, result: { ...result, ...foreign } },
      isAccepted: true,
    },
  ];
}

/** Rows and objects of the host that no report of another claim may change, by their name. */
async function stateOf(
  service: Service,
  store: StoreView,
  issues: readonly number[],
  pull: number,
): Promise<Record<string, unknown>> {
  const state: Record<string, unknown> = {
    'the pull request on the host': await service.read(`pulls/${pull}`),
    'the branches on the host': await service.read('branches?per_page=100'),
  };
  for (const number of issues) {
    state[`issue ${number} on the host`] = await service.read(`issues/${number}`);
    state[`comments of issue ${number}`] = await service.read(`issues/${number}/comments`);
    Object.assign(state, await rowsOf(store, number));
  }
  return state;
}

/** Columns that polls of the host renew at any time. */
const RENEWED = '{updated_at,host_updated_at,seen_at,labels_at}';

/** The rows of an issue in all tables that have some. */
async function rowsOf(store: StoreView, issue: number): Promise<Record<string, unknown>> {
  const tables = await store.rows<{ name: string }>(
    `select c.relname name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'issue_id'
      where c.relnamespace = 'pipeline'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`,
  );
  const id = `(select id from issues where issue_number = ${issue})`;
  const rows: Record<string, unknown> = {};
  for (const { name, column } of [
    { name: 'issues', column: 'id' },
    ...tables.map((t) => ({ ...t, column: 'issue_id' })),
  ]) {
    rows[`${name} of issue ${issue}`] = await store.rows(
      `select to_jsonb(t) - '${RENEWED}'::text[] as r from ${name} t where ${column} = ${id} order by 1`,
    );
  }
  return rows;
}

const quiet = (store: StoreView): Promise<void> =>
  poll(
    'host writes and deliveries are done',
    async () => {
      const { projections, deliveries } = await store.open();
      return projections === 0 && deliveries === 0;
    },
    { withinMs: WITHIN_MS },
  );

/** The endpoints of workers and of the host, without any client of the product. */
class Service {
  readonly #report: StackReport;

  constructor(report: StackReport) {
    this.#report = report;
  }

  async post(path: string, body: object): Promise<{ status: number; body: Record<string, unknown> }> {
    const { url, workerToken } = this.#report.hosted;
    const response = await fetch(url + path, requestOf(workerToken, body));
    const text = await response.text();
    return { status: response.status, body: text === '' ? {} : JSON.parse(text) };
  }

  /** Returns an object of the host below the repository. */
  async read(path: string): Promise<unknown> {
    const { url, token } = this.#report.sandbox;
    const address = `${url}/repos/${this.#report.repos[0]}/${path}`;
    return (await fetch(address, { headers: { authorization: `Bearer ${token}` } })).json();
  }

  async openIssue(title: string): Promise<number> {
    const { url, token } = this.#report.sandbox;
    const address = `${url}/repos/${this.#report.repos[0]}/issues`;
    const response = await fetch(address, requestOf(token, { title, labels: ['svc:enqueue'] }));
    return ((await response.json()) as { number: number }).number;
  }

  async register(name: string): Promise<string> {
    const { body } = await this.post('/api/worker/register', { name, taskTypes: ['analyze', 'plan', 'develop'] });
    return String(body.workerId);
  }

  /** Registers a worker that claims a task of an issue. */
  async claim(name: string, taskType: TaskType, issue: number): Promise<Task> {
    return this.#claimBy(await this.register(name), taskType, issue);
  }

  /** Brings an issue to development. @returns the claim of it. */
  async develops(workerId: string, issue: number): Promise<Task> {
    await this.#complete(await this.#claimBy(workerId, 'analyze', issue), 'analyzed', {});
    await this.#complete(await this.#claimBy(workerId, 'plan', issue), 'planned', { plan: 'p', plannedFiles: [] });
    return this.#claimBy(workerId, 'develop', issue);
  }

  async #claimBy(workerId: string, taskType: TaskType, issue: number): Promise<Task> {
    const { body } = await this.post('/api/worker/claim', { workerId, taskTypes: [taskType], waitMs: 30_000 });
    const task = body.task as Task | undefined;
    if (task?.issueNumber !== issue) throw new Error(`no task to ${taskType} issue ${issue}`);
    await this.post(`/api/worker/tasks/${task.id}/start`, { claimToken: task.claimToken });
    return task;
  }

  async #complete({ id, claimToken }: Task, outcome: string, result: object): Promise<void> {
    const { status } = await this.post(`/api/worker/tasks/${id}/complete`, { claimToken, outcome, result });
    if (status !== 200) throw new Error(`the outcome ${outcome} was refused with ${status}`);
  }
}

const requestOf = (token: string, body: object): RequestInit => ({
  method: 'POST',
  headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  body: JSON.stringify(body),
});
