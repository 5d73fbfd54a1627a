import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { priorityOf, TASK_TYPES, type TaskType } from '@pipeline/domain';
import { enqueueTasks, ensureTenant, inTransaction, type NewTask, type Tx, upsertRepo } from '@pipeline/store';
import { testDatabase } from '@pipeline/testing';
import { sql } from 'kysely';
import { aRepo } from '../a-repo.ts';
import { addWorker, claimFor } from '../a-worker.ts';

const database = testDatabase();
let round = 0;
let tenantId: number;
let repoIds: number[];

beforeEach(async () => {
  round += 1;
  tenantId = await ensureTenant(database.store.db, `claim-${round}`);
  await addWorker(database.db, tenantId);
  repoIds = [];
  for (const name of ['shop', 'till']) repoIds.push(await makeRepo(name));
});

const makeRepo = (name: string): Promise<number> =>
  inTransaction(database.store.db, async (tx) => {
    return (await upsertRepo(tx, tenantId, aRepo(`acme/${name}`))).id;
  });

function taskOf(taskType: TaskType, repoId = repoIds[0] ?? 0): NewTask {
  const id = randomUUID();
  const work = { id, workId: id, repoId, issueId: null, issueNumber: 0, taskType, priority: priorityOf(taskType) };
  return { ...work, attempt: 0, maxAttempts: 3, held: null, runAfterMs: null, handoverRunId: null };
}

const enqueue = (...tasks: NewTask[]) => enqueueTasks(database.store.db, tenantId, tasks);
const claim = (taskTypes: readonly TaskType[], repos: number[] | null = null, limit = 1, agents: string[] = []) =>
  claimFor(database.store.db, tenantId, { taskTypes, agents, repoIds: repos }, limit);

describe('a claim', () => {
  test('takes the lowest priority number first, then turn by turn among the repos', async () => {
    const [shop, till] = repoIds;
    await enqueue(taskOf('plan', shop), taskOf('plan', shop), taskOf('plan', till), taskOf('merge', till));
    const claims = [
      ...(await claim(['plan', 'merge'])),
      ...(await claim(['plan', 'merge'])),
      ...(await claim(['plan'])),
    ];
    const seen = claims.map(({ task_type, repo_id }) => [task_type, repo_id]);
    expect(seen[0]).toEqual(['merge', till]);
    expect(
      seen
        .slice(1)
        .map(([, repo]) => repo)
        .sort(),
    ).toEqual([shop, till].sort());
  });

  test('takes only the wanted types, and only the repos of a restricted worker', async () => {
    const [shop, till = 0] = repoIds;
    await enqueue(taskOf('plan', shop), taskOf('develop', till));
    expect(await claim(['review'])).toEqual([]);
    expect(await claim(['plan'], [till])).toEqual([]);
    expect(await claim(['plan', 'develop'], [till])).toMatchObject([{ task_type: 'develop', repo_id: till }]);
  });

  test.each([
    ['one of the whole tenant', false, 1],
    ['one of some repos', true, 1],
    ['many of the whole tenant', false, 5],
    ['many of some repos', true, 5],
  ])('claims the tasks of its agents and of any agent when agents are compared (%s)', async (_, restricted, limit) => {
    const repos = restricted ? repoIds : null;
    await enqueue(
      { ...taskOf('develop'), comparedAgent: 'claude' },
      { ...taskOf('develop'), comparedAgent: 'codex' },
      taskOf('develop'),
      { ...taskOf('review', repoIds[1]), comparedAgent: 'codex' },
    );
    const agentsOf = async (agents: string[]) => {
      const all: string[] = [];
      for (;;) {
        const claimed = await claim(['develop', 'review'], repos, limit, agents);
        if (claimed.length === 0) return all.sort();
        all.push(...claimed.map((task) => `${task.task_type} ${task.compared_agent}`));
      }
    };
    expect(await agentsOf(['gemini'])).toEqual(['develop ']);
    expect(await agentsOf([])).toEqual([]);
    expect(await agentsOf(['gemini', 'codex'])).toEqual(['develop codex', 'review codex']);
    expect(await agentsOf(['claude'])).toEqual(['develop claude']);
    const runs = database.db.selectFrom('runs').select('compared_agent').where('tenant_id', '=', tenantId);
    expect((await runs.execute()).map((run) => run.compared_agent).sort()).toEqual(['', 'claude', 'codex', 'codex']);
  });

  /** Counts the rows that this connection has read of the tasks and their indexes since its counts were published. */
  const readTuples = async (tx: Tx): Promise<number> => {
    const { rows } = await sql<{ n: number }>`
      select sum(pg_stat_get_xact_tuples_returned(c.oid))::int as n
      from pg_class c left join pg_index i on i.indexrelid = c.oid
      where 'tasks'::regclass in (c.oid, i.indrelid)`.execute(tx);
    return rows[0]?.n ?? 0;
  };

  test.each([
    ['one of the whole tenant', false, 1],
    ['one of some repos', true, 1],
    ['three of the whole tenant', false, 3],
    ['three of some repos', true, 3],
  ])(
    'reads the tasks that it takes out of a long queue, and none of other agents (%s)',
    async (_, restricted, limit) => {
      const [shop] = repoIds;
      await sql`
      insert into tasks (tenant_id, id, work_id, repo_id, issue_number, task_type, priority, turn, max_attempts, compared_agent)
      select ${tenantId}, id, id, ${shop}, 0, 'develop', 20, n, 3, case when n % 2 = 0 then 'codex' else '' end
      from generate_series(1, 40000) n cross join lateral (select gen_random_uuid() as id where n > 0) task`.execute(
        database.db,
      );
      await sql`vacuum analyze tasks`.execute(database.db);
      const order = { taskTypes: ['develop'], agents: ['claude'], repoIds: restricted ? repoIds : null };
      const read = await inTransaction(database.db, async (tx) => {
        // As a connection that has claimed several times plans it.
        await sql`set local plan_cache_mode = force_generic_plan`.execute(tx);
        // Postgres publishes counts once a second: until then, those of earlier transactions are among them.
        const before = await readTuples(tx);
        expect(await claimFor(tx, tenantId, order, limit)).toHaveLength(limit);
        return (await readTuples(tx)) - before;
      });
      expect(read).toBeLessThan(100);
      await sql`delete from tasks where tenant_id = ${tenantId}`.execute(database.db);
    },
  );

  test('skips a held task, also when a later one of its queue is free', async () => {
    await enqueue({ ...taskOf('plan'), held: 'paused' });
    expect(await claim(['plan'])).toEqual([]);
    const free = taskOf('plan');
    await enqueue(free);
    expect((await claim(['plan'])).map(({ id }) => id)).toEqual([free.id]);
  });

  test.each([
    ['one of the whole tenant', false, 1],
    ['one of some repos', true, 1],
    ['three of the whole tenant', false, 3],
    ['three of some repos', true, 3],
  ])('locks no task that it does not take (%s)', async (_, restricted, taken) => {
    await enqueue(...TASK_TYPES.map((type) => taskOf(type)));
    const holding = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    const repos = restricted ? repoIds : null;
    const first = inTransaction(database.store.db, async (tx) => {
      const claims = await claimFor(tx, tenantId, { taskTypes: TASK_TYPES, repoIds: repos }, taken);
      holding.resolve();
      await held.promise;
      return claims;
    });
    await holding.promise;
    const others = await Promise.all(TASK_TYPES.slice(taken).map(() => claim(TASK_TYPES, repos)));
    held.resolve();
    const ids = [await first, ...others].flat().map(({ id }) => id);
    expect(new Set(ids).size).toBe(TASK_TYPES.length);
  });

  test('a claim of many tasks returns at most one task per token', async () => {
    await enqueue(...Array.from({ length: 5 }, () => taskOf('plan')));
    const claims = await claim(['plan', 'develop'], null, 3);
    expect(new Set(claims.map(({ claim_token_hash }) => claim_token_hash)).size).toBe(3);
    expect(await claim(['plan'], repoIds, 3)).toHaveLength(2);
  });
});

const turnsOf = async (repoId?: number) => {
  const rows = await database.db
    .selectFrom('tasks')
    .select(['repo_id', 'turn'])
    .where('tenant_id', '=', tenantId)
    .orderBy('turn')
    .execute();
  return rows.filter((row) => row.repo_id === repoId).map(({ turn }) => turn);
};

test('gives the tasks of each repo in a batch consecutive turns after waiting ones', async () => {
  const [shop, till] = repoIds;
  await enqueue(taskOf('plan', shop), taskOf('plan', shop));
  await enqueue(taskOf('plan', shop), taskOf('plan', till), taskOf('plan', till));
  expect(await turnsOf(shop)).toEqual([1, 2, 3]);
  expect(await turnsOf(till)).toEqual([2, 3]);
});

test('gives a single task the same turn as in a batch', async () => {
  const [shop, till] = repoIds;
  for (const repoId of [shop, shop, shop, till, till]) await enqueue(taskOf('plan', repoId));
  await enqueue({ ...taskOf('develop', till), held: 'backoff', runAfterMs: 1_000 });
  expect(await turnsOf(shop)).toEqual([1, 2, 3]);
  // 2 and 3 for its plans; its only develop task leads a queue of its own.
  expect(await turnsOf(till)).toEqual([1, 2, 3]);
});
