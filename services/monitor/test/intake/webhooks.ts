import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { drainInbox, Inbox, Leader, putRepo, receiveDelivery } from '@pipeline/engine';
import { silentLogger } from '@pipeline/runtime';
import type { Notifications } from '@pipeline/store';
import { hostFinder } from '../../src/hosts/hosts.ts';
import { RepoPoller } from '../../src/intake/repo-poller.ts';
import { type Bench, makeBench } from '../support/bench.ts';
import { connectedDoorbell, makeWorld, openIssue, type World } from '../support/sandbox-world.ts';
import { database } from './database.ts';

describe('the intake of webhooks', () => {
  let world: World;
  let bench: Bench;
  let notifications: Notifications;
  let poller: RepoPoller;
  let time = Date.now();
  const now = () => new Date(time);
  const pass = (ms: number) => {
    time += ms;
  };
  /** Each test has repos of its own: the store goes on while the host starts empty. */
  let round = 0;
  let slugs: [string, string] = ['', ''];

  beforeEach(async () => {
    round += 1;
    slugs = [`acme/one-${round}`, `acme/two-${round}`];
    await database.db.updateTable('repos').set({ enabled: false }).execute();
    world = await makeWorld(slugs, now);
    bench = await makeBench(database.store, slugs[0]);
    notifications = await connectedDoorbell(database.url);
    poller = pollerOn(notifications);
  });
  afterEach(async () => {
    await notifications.close();
    await world.stop();
  });

  const hostOf = () => world.host.vcs;
  const pollerOn = (bell: Notifications) =>
    new RepoPoller({ engine: bench.engine, hostOf, leader: new Leader(bell), log: silentLogger, now });

  async function poll(one = poller): Promise<void> {
    await one.tick();
    await one.landed();
  }
  const deliver = async () => {
    await world.sandbox.flushWebhooks();
    for (const { id, event, events } of world.webhooks.splice(0))
      await receiveDelivery(bench.engine, id, event, events);
  };
  const issues = () =>
    database.db
      .selectFrom('issues')
      .innerJoin('repos', (join) => join.onRef('repos.id', '=', 'issues.repo_id'))
      .select(['repos.name', 'issue_number', 'state'])
      .where(
        'repos.name',
        'in',
        slugs.map((slug) => slug.split('/')[1] ?? ''),
      )
      .orderBy('issues.id')
      .execute();
  const syncOf = (repoId: number) =>
    database.db.selectFrom('repo_sync').selectAll().where('repo_id', '=', repoId).executeTakeFirst();
  const reads = () => world.sandbox.requests;

  describe('an issue labelled svc:enqueue', () => {
    test('enters once, though a poll and a webhook both bring it, in any order and at once', async () => {
      const [one] = slugs;
      const number = await openIssue(world, one);
      await deliver();
      await Promise.all([poll(), drainInbox(bench.engine, hostOf)]);
      await deliver();
      await drainInbox(bench.engine, hostOf);
      pass(60_000);
      await poll();
      expect(await issues()).toEqual([{ name: one.split('/')[1], issue_number: number, state: 'analyzing' }]);
      const tasks = await database.db
        .selectFrom('tasks')
        .select('task_type')
        .where('repo_id', '=', bench.repo.id)
        .execute();
      expect(tasks).toEqual([{ task_type: 'analyze' }]);
    });

    test('enters by webhook alone, and by poll alone', async () => {
      const [one] = slugs;
      await openIssue(world, one);
      await deliver();
      const inbox = new Inbox({ engine: bench.engine, hostOf });
      await new Leader(notifications).run(bench.engine, (leading) => inbox.step(leading));
      await inbox.settled();
      expect(await issues()).toHaveLength(1);
      await openIssue(world, one);
      await openIssue(world, one, ['bug']);
      await poll();
      expect((await issues()).map(({ issue_number }) => issue_number)).toEqual([1, 2]);
    });

    test('reads an issue from before the repo was enabled at once when the repo is enabled', async () => {
      const [one, two] = slugs;
      await openIssue(world, one);
      await openIssue(world, two);
      await poll();
      expect(await issues()).toHaveLength(1);
      await makeBench(database.store, two);
      poller.lookAgain();
      await poll();
      expect(await issues()).toHaveLength(2);
    });
  });

  describe('polls', () => {
    const pollsOf = (slug: string) =>
      reads()
        .entries()
        .filter(({ type, path }) => type.startsWith('GET') && path === `/repos/${slug}/issues`).length;

    test('keep the interval, and an unchanged repo costs one request that writes nothing', async () => {
      const [one] = slugs;
      await poll();
      await poll();
      expect(pollsOf(one)).toBe(1);
      pass(30_000);
      await poll();
      const before = await syncOf(bench.repo.id);
      pass(30_000);
      await poll();
      expect(pollsOf(one)).toBe(3);
      expect(await syncOf(bench.repo.id)).toEqual(before);
    });

    test('polls of a repo that fails delay no other; the error is stored, shown for that repo and cleared', async () => {
      const [one, two] = slugs;
      const second = await makeBench(database.store, two);
      await openIssue(world, one);
      await openIssue(world, two);
      world.sandbox.failNext({
        status: 403,
        message: 'Resource protected',
        times: 2,
        match: { path: `/repos/${one}/issues` },
      });
      await poll();
      expect((await issues()).map(({ name }) => name)).toEqual([two.split('/')[1]]);
      expect((await syncOf(bench.repo.id))?.error).toContain('Resource protected');
      expect((await syncOf(second.repo.id))?.error).toBeNull();
      // Twice the interval after the first failure, four times after the second.
      for (const [ms, polls] of [
        [30_000, 1],
        [30_000, 2],
        [60_000, 2],
        [60_000, 3],
      ] as const) {
        pass(ms);
        await poll();
        expect([ms, pollsOf(one)]).toEqual([ms, polls]);
      }
      expect(await issues()).toHaveLength(2);
      expect((await syncOf(bench.repo.id))?.error).toBeNull();
    });

    test('take an error back also when the host then reports that nothing changed', async () => {
      const [one] = slugs;
      await poll();
      pass(30_000);
      await poll();
      world.sandbox.failNext({ status: 403, message: 'Not now', match: { path: `/repos/${one}/issues` } });
      pass(30_000);
      await poll();
      expect((await syncOf(bench.repo.id))?.error).toContain('Not now');
      pass(60_000);
      await poll();
      expect(reads().entries().at(-1)?.status).toBe(304);
      expect((await syncOf(bench.repo.id))?.error).toBeNull();
    });

    test('wait as long as the host asks for', async () => {
      const [one] = slugs;
      world.sandbox.failNext({
        status: 429,
        headers: { 'retry-after': '900' },
        match: { path: `/repos/${one}/issues` },
      });
      await poll();
      pass(899_000);
      await poll();
      expect(pollsOf(one)).toBe(1);
      pass(2_000);
      await poll();
      expect(pollsOf(one)).toBe(2);
    });

    test('one replica polls', async () => {
      const [one] = slugs;
      const otherBell = await connectedDoorbell(database.url);
      const other = pollerOn(otherBell);
      await poll();
      await poll(other);
      expect(pollsOf(one)).toBe(1);
      await notifications.close();
      await poll(other);
      expect(pollsOf(one)).toBe(2);
      await otherBell.close();
    });

    test('leave repos alone whose host this process has no credentials for', async () => {
      await putRepo(bench.engine, bench.tenantId, {
        slug: { owner: 'acme', name: `foreign-${round}` },
        vcsHost: 'github',
        cloneUrl: 'https://github.com/acme/foreign.git',
        defaultBranch: 'main',
        setupCommand: null,
        poolSize: null,
        installationId: null,
        enabled: true,
      });
      expect(hostFinder([world.host])({ vcs_host: 'github' } as never)).toBeNull();
      const foreign = new RepoPoller({
        engine: bench.engine,
        hostOf: hostFinder([world.host]),
        leader: new Leader(notifications),
        log: silentLogger,
        now,
      });
      await poll(foreign);
      expect(
        reads()
          .entries()
          .filter(({ path }) => path.includes('foreign')),
      ).toEqual([]);
    });
  });

  afterAll(() => database.clear());
});
