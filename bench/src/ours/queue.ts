import { createHash, randomUUID } from 'node:crypto';
import { priorityOf, type TaskType } from '@pipeline/domain';
import { timeOrderedId } from '@pipeline/runtime/time-ordered-id';
import { type Claimed, claimTasks, enqueueTasks, type NewTask } from '@pipeline/store';
import { requireEqual } from '../measure/lanes.ts';
import { CLAIMER, type OurStore } from './store.ts';

/** Work without an issue: what a queue alone does. Work of an issue is measured by the whole report. */
export const TASK_TYPE: TaskType = 'retrospect';
const LEASE_MS = 60_000;

const PAST = 10_000;

/**
 * An empty queue with some past: runs and events of earlier work. In an empty table the first plans, which are kept,
 * would be made for an empty table.
 */
export async function clearQueue({ admin, tenantId, repoIds }: OurStore): Promise<void> {
  await admin.query('truncate tasks, runs, pipeline_events');
  await admin.query(
    `insert into runs (tenant_id, task_id, work_id, repo_id, task_type, attempt, agent, worker_id, claim_token_hash,
       status, claimed_at, finished_at, lease_expires_at, outcome)
     select $1, t.id, t.id, $2, $3, 0, 'a', 'w', t.id::text, 'lost', now(), now(), now(), null
     from generate_series(1, $4) as n, lateral (select gen_random_uuid() as id where n > 0) as t`,
    [tenantId, repoIds[0], TASK_TYPE, PAST],
  );
  await admin.query('vacuum analyze runs');
}

/** Tasks in turn over all repos, as if enqueued one by one, by one statement. Statistics are made, too. */
export async function fillQueue(
  { admin, tenantId, repoIds }: OurStore,
  tasks: number,
  types = [TASK_TYPE],
): Promise<void> {
  await admin.query(
    `insert into tasks (tenant_id, id, work_id, repo_id, task_type, priority, turn, max_attempts)
     select $1, t.id, t.id, repos[1 + n % cardinality(repos)], types[k], priorities[k], n / cardinality(repos) + 1, 3
     from (select $2::bigint[] as repos, $3::text[] as types, $4::int[] as priorities) as lists,
       lateral (select n, gen_random_uuid() as id, 1 + n % cardinality(types) as k from generate_series(0, $5 - 1) as n) as t`,
    [tenantId, repoIds, types, types.map((type) => priorityOf(type)), tasks],
  );
  await admin.query('vacuum analyze tasks');
}

/** The task number `index`, of the next repo. */
export function newTask({ repoIds }: OurStore, index: number): NewTask {
  const id = timeOrderedId();
  return {
    id,
    workId: id,
    repoId: repoIds[index % repoIds.length] ?? 0,
    issueId: null,
    issueNumber: 0,
    taskType: TASK_TYPE,
    priority: priorityOf(TASK_TYPE),
    attempt: 0,
    maxAttempts: 3,
    held: null,
    runAfterMs: null,
    handoverRunId: null,
  };
}

export const enqueue = (ours: OurStore, from: number, count: number): Promise<void> =>
  enqueueTasks(
    ours.store.db,
    ours.tenantId,
    Array.from({ length: count }, (_, at) => newTask(ours, from + at)),
  );

export const claimBatch = (
  { store, tenantId }: OurStore,
  count: number,
  types: readonly TaskType[] = [TASK_TYPE],
  repoIds: readonly number[] | null = null,
): Promise<Claimed[]> =>
  claimTasks(store.db, tenantId, {
    taskTypes: types,
    repoIds,
    claimers: Array.from({ length: count }, () => ({
      workerId: CLAIMER,
      tokenId: null,
      tokenHashes: [hashOf(randomUUID())],
    })),
    leaseMs: LEASE_MS,
    isOpen: true,
  }).then((answers) => answers.flatMap(({ task }) => task ?? []));

/** Ends claims without a report, for rows that measure claims alone. @throws Error when a claim did not hold. */
export async function removeClaimed({ admin, tenantId }: OurStore, claims: readonly Claimed[]): Promise<void> {
  const { rowCount } = await admin.query({
    name: 'remove-claimed',
    text: `with ended as (
        update runs set status = 'finished', outcome = 'retrospective', finished_at = svc_now()
        where tenant_id = $1 and claim_token_hash = any($2::text[]) and status = 'claimed'
        returning id, task_id
      )
      delete from tasks t using ended e where t.tenant_id = $1 and t.id = e.task_id and t.run_id = e.id`,
    values: [tenantId, claims.map((claim) => claim.claim_token_hash)],
  });
  requireEqual('tasks finished', rowCount ?? 0, claims.length);
}

export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Notes what was claimed. @throws Error for a task or a run that comes a second time. */
export class ClaimLog {
  readonly #tasks = new Set<string>();
  readonly #runs = new Set<number>();

  add(claims: readonly Pick<Claimed, 'id' | 'run_id'>[]): void {
    for (const { id, run_id } of claims) {
      if (this.#tasks.has(id) || this.#runs.has(run_id)) throw new Error(`task ${id} was claimed twice`);
      this.#tasks.add(id);
      this.#runs.add(run_id);
    }
  }

  get size(): number {
    return this.#tasks.size;
  }
}

/**
 * Checks that exactly these tasks were worked off: none left, one finished run each, one event each.
 * @param given how many different tasks the claimers got.
 */
export async function requireAllWorkedOff(ours: OurStore, given: number, tasks: number): Promise<void> {
  requireEqual('tasks claimed', given, tasks);
  requireEqual('tasks left', await ours.count('tasks'), 0);
  requireEqual('runs finished', await ours.count(`runs where status = 'finished'`), tasks);
  requireEqual('claim events', await ours.count(`pipeline_events where event_type = 'task_claimed'`), tasks);
}
