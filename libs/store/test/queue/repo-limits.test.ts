import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { announceRepo, enqueueTasks, ensureTenant, inTransaction, type NewTask, upsertRepo } from '@pipeline/store';
import { testDatabase } from '@pipeline/testing';
import { aRepo } from '../a-repo.ts';
import { addWorker, claimFor } from '../a-worker.ts';

const database = testDatabase();
let round = 0;
let tenantId: number;
let limited: number;
let free: number;

const makeRepo = (name: string, poolSize: number | null) =>
  inTransaction(database.store.db, async (tx) => {
    const repo = aRepo(`acme/${name}`, { defaultBranch: 'trunk', setupCommand: 'make', poolSize });
    return (await upsertRepo(tx, tenantId, repo)).id;
  });

beforeEach(async () => {
  round += 1;
  tenantId = await ensureTenant(database.store.db, `limits-${round}`);
  await addWorker(database.db, tenantId);
  limited = await makeRepo('limited', 3);
  free = await makeRepo('free', null);
});

function tasksIn(repoId: number, count: number): NewTask[] {
  return Array.from({ length: count }, () => {
    const id = randomUUID();
    const work = { id, workId: id, repoId, issueId: null, issueNumber: 0, taskType: 'plan' as const, priority: 40 };
    return { ...work, attempt: 0, maxAttempts: 3, held: null, runAfterMs: null, handoverRunId: null };
  });
}
const enqueue = (repoId: number, count: number) => enqueueTasks(database.store.db, tenantId, tasksIn(repoId, count));
const claim = async (repoIds: number[] | null = null) => {
  return (await claimFor(database.store.db, tenantId, { taskTypes: ['plan'], repoIds }, 1))[0];
};
const claimedIn = async (repoId: number) => {
  const tasks = database.db.selectFrom('tasks').select('id').where('tenant_id', '=', tenantId);
  return (await tasks.where('repo_id', '=', repoId).where('status', '=', 'claimed').execute()).length;
};

describe('a repo with a limit', () => {
  test('gets claims up to the limit, in turn with other repos, which its backlog does not delay', async () => {
    await enqueue(limited, 50);
    await enqueue(free, 5);
    const repos: unknown[] = [];
    for (;;) {
      const claimed = await claim();
      if (!claimed) break;
      repos.push(claimed.repo_id);
    }
    expect(repos.filter((repo) => repo === limited)).toHaveLength(3);
    expect(repos.filter((repo) => repo === free)).toHaveLength(5);
    expect(new Set(repos.slice(0, 3)).size).toBe(2);
  });

  test('gives a restricted worker nothing while it is full, also when other repos have tasks', async () => {
    await enqueue(limited, 5);
    await enqueue(free, 5);
    for (let n = 0; n < 3; n += 1) expect(await claim([limited])).toBeDefined();
    expect(await claim([limited])).toBeUndefined();
    expect(await claim([limited, free])).toMatchObject({ repo_id: free });
  });

  test('gets no more claims than it has room for when many are made at once', async () => {
    await enqueue(limited, 10);
    await enqueue(free, 2);
    await claim([limited]);
    const order = { taskTypes: ['plan'], repoIds: null };
    const claims = await claimFor(database.store.db, tenantId, order, 8);
    expect(claims.map(({ repo_id }) => repo_id).sort()).toEqual([limited, limited, free, free].sort());
  });

  test('eight concurrent workers do not exceed the limit and get the tasks of another repo', async () => {
    await enqueue(limited, 40);
    await enqueue(free, 20);
    let most = 0;
    let taken = 0;
    const claimer = async () => {
      for (;;) {
        const claimed = await claim();
        if (!claimed) return;
        taken += 1;
        most = Math.max(most, await claimedIn(limited));
      }
    };
    await Promise.all(Array.from({ length: 8 }, claimer));
    expect(most).toBe(3);
    expect(taken).toBe(23);
  });

  test('accepts a claim again as soon as one has ended in any way', async () => {
    await enqueue(limited, 5);
    const claims = [await claim(), await claim(), await claim()];
    expect(await claim()).toBeUndefined();
    const ofFirst = database.db.deleteFrom('tasks').where('tenant_id', '=', tenantId);
    await ofFirst.where('id', '=', claims[0]?.id ?? '').execute();
    expect(await claim()).toBeDefined();
    const ofSecond = database.db.updateTable('tasks').set({ status: 'pending' }).where('tenant_id', '=', tenantId);
    await ofSecond.where('id', '=', claims[1]?.id ?? '').execute();
    expect(await claim()).toBeDefined();
    expect(await claim()).toBeUndefined();
  });

  test('lets running tasks finish when the limit is lowered, and accepts claims when it is raised', async () => {
    await enqueue(limited, 6);
    for (let n = 0; n < 3; n += 1) await claim();
    await makeRepo('limited', 1);
    expect(await claim()).toBeUndefined();
    await makeRepo('limited', 4);
    expect(await claim()).toBeDefined();
    expect(await claim()).toBeUndefined();
  });
});

test('an installation event changes only the installation of a configured repo', async () => {
  const slug = { owner: 'Acme', name: 'Limited' };
  await inTransaction(database.store.db, (tx) =>
    announceRepo(tx, tenantId, { slug, hostId: null, installationId: 7, cloneUrl: 'https://github.com/a/b.git' }),
  );
  await makeRepo('limited', 3);
  const repos = database.db.selectFrom('repos').selectAll().where('tenant_id', '=', tenantId);
  expect(await repos.where('id', '=', limited).executeTakeFirst()).toMatchObject({
    default_branch: 'trunk',
    setup_command: 'make',
    pool_size: 3,
    installation_id: 7,
    enabled: true,
  });
});
