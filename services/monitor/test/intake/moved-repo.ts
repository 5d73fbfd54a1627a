/** A repository that is renamed, transferred, archived, deleted or whose name is taken while an issue is in work. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Outcome, TaskType } from '@pipeline/domain';
import { claim, drainInbox, Leader, putRepo, receiveDelivery, registerWorker, report, start } from '@pipeline/engine';
import { createMetrics, silentLogger } from '@pipeline/runtime';
import { issueWhy, type Notifications, operatorScope } from '@pipeline/store';
import { hostFinder } from '../../src/hosts/hosts.ts';
import { RepoPoller } from '../../src/intake/repo-poller.ts';
import { createOutboxMetrics } from '../../src/outbox/metrics.ts';
import { ProjectionExecutor } from '../../src/outbox/projections.ts';
import { type Bench, engineOn, makeBench } from '../support/bench.ts';
import { eventsOfRepo, unavailableAlerts } from '../support/of-repo.ts';
import { pushBranch } from '../support/push-branch.ts';
import {
  BOT,
  connectedDoorbell,
  makeWorld,
  openIssue,
  type SentWebhook,
  type World,
} from '../support/sandbox-world.ts';
import { database } from './database.ts';

describe('a repository that moves', () => {
  const ACME = { login: 'acme', token: 'acme-token-1' };
  const GLOBEX = { login: 'globex', token: 'globex-token-1' };
  const START = Date.parse('2026-03-01T00:00:00Z');
  let notifications: Notifications;
  // Before those of the database, which must find no connection.
  afterAll(() => notifications.close());
  let world: World;
  let bench: Bench;
  let executor: ProjectionExecutor;
  let poller: RepoPoller;
  let time = START;
  const now = () => new Date(time);
  const pass = (minutes: number) => {
    time += minutes * 60_000;
    database.clock.now = now();
  };

  let serial = 0;
  /** The name that the repository of the test had at first. */
  let slug: string;
  let number: number;
  beforeAll(async () => {
    pass(0);
    world = await makeWorld([], now);
    world.sandbox.addUser(ACME);
    world.sandbox.addUser(GLOBEX);
    notifications = await connectedDoorbell(database.url);
    const engine = engineOn(database.store);
    executor = new ProjectionExecutor({
      engine,
      host: world.host.vcs,
      leader: new Leader(notifications),
      budget: null,
      metrics: createOutboxMetrics(createMetrics().registry),
      log: silentLogger,
      now,
    });
    const hostOf = hostFinder([world.host]);
    poller = new RepoPoller({ engine, hostOf, leader: new Leader(notifications), log: silentLogger, now });
  });
  afterAll(() => world.stop());
  beforeEach(async () => {
    serial += 1;
    slug = `acme/shop-${serial}`;
    await addOnHost(slug);
    bench = await makeBench(database.store, slug);
    await database.db.updateTable('repos').set({ enabled: false }).where('id', '!=', bench.repo.id).execute();
    await poll();
    number = await openIssue(world, slug);
    await settle();
  });

  const addOnHost = (name: string) =>
    world.sandbox.addRepo({ slug: name, collaborators: { [BOT.login]: 'write', anna: 'write' } });
  const asOwner = <T>(method: string, path: string, body?: unknown, owner = ACME) =>
    world.api<T>(method, path, body, owner);
  const rename = (name: string) => asOwner('PATCH', `/repos/${slug}`, { name });

  async function poll(minutes = 11): Promise<void> {
    pass(minutes);
    poller.lookAgain();
    await poller.tick();
    await poller.landed();
  }

  /** Delivers the webhooks of the host, or these again. @returns them. */
  async function deliver(again?: readonly SentWebhook[]): Promise<SentWebhook[]> {
    await world.sandbox.flushWebhooks();
    const sent = again ?? world.webhooks.splice(0);
    for (const { id, event, events } of sent) {
      await receiveDelivery(bench.engine, again ? `${id}-${Math.random()}` : id, event, events);
    }
    await drainInbox(bench.engine, hostFinder([world.host]));
    return [...sent];
  }

  /** Webhooks reach the engine, its writes reach the host, until nothing moves. @returns the delivered webhooks. */
  async function settle(): Promise<SentWebhook[]> {
    const all: SentWebhook[] = [];
    for (let round = 0; round < 4; round += 1) {
      all.push(...(await deliver()));
      do await executor.tick();
      while (await executor.landed());
    }
    return all;
  }

  const stored = () =>
    database.db.selectFrom('repos').selectAll().where('id', '=', bench.repo.id).executeTakeFirstOrThrow();
  const nameOf = async () => {
    const { owner, name } = await stored();
    return `${owner}/${name}`;
  };
  const issue = () =>
    database.db
      .selectFrom('issues')
      .select(['state', 'is_paused'])
      .where('repo_id', '=', bench.repo.id)
      .where('issue_number', '=', number)
      .executeTakeFirstOrThrow();
  const isPaused = async () => (await issue()).is_paused;
  const open = () =>
    database.db
      .selectFrom('projections')
      .select(['status', 'error', 'attempts'])
      .where('repo_id', '=', bench.repo.id)
      .where('status', '!=', 'complete')
      .execute();
  const labelsAt = async (repo: string) =>
    (await world.api<{ labels: { name: string }[] }>('GET', `/repos/${repo}/issues/${number}`)).labels.map(
      ({ name }) => name,
    );
  const eventsOf = (eventType: string) => eventsOfRepo(database, bench, eventType);
  const alerts = () => unavailableAlerts(database, bench);

  async function claimNext(taskType: TaskType) {
    const { engine, tenantId } = bench;
    const worker = { name: 'w1', hostname: '', version: '1', repos: [], taskTypes: [taskType], labels: {} };
    const workerId = await registerWorker(engine, tenantId, worker);
    return claim(engine, { tenantId, workerId, taskTypes: [taskType], repoIds: [bench.repo.id] });
  }

  async function work(taskType: TaskType, outcome: Outcome) {
    const task = await claimNext(taskType);
    if (!task) throw new Error(`no ${taskType} task`);
    const ref = { tenantId: bench.tenantId, taskId: task.id, claimToken: task.claimToken };
    await start(bench.engine, ref);
    await report(bench.engine, ref, { ...outcome, artefacts: [], findings: [], invocations: [] });
    return task;
  }

  describe('a renamed repository', () => {
    test('goes on under its new name when the host reports it', async () => {
      await rename(`cart-${serial}`);
      await settle();
      expect(await nameOf()).toBe(`acme/cart-${serial}`);
      expect((await stored()).clone_url).toBe(`${world.sandbox.url}/acme/cart-${serial}.git`);
      expect(await eventsOf('repo_moved')).toEqual([
        { from: slug, to: `acme/cart-${serial}`, hostId: (await stored()).host_id },
      ]);
      const task = await work('analyze', { outcome: 'analyzed', result: {} });
      expect(task.repo).toBe(`acme/cart-${serial}`);
      await settle();
      expect((await issue()).state).toBe('planning');
      expect(await labelsAt(`acme/cart-${serial}`)).toContain('svc:planning');
      expect(await open()).toEqual([]);
    });

    test('merges the pull request under the new name when the repository is renamed meanwhile', async () => {
      await work('analyze', { outcome: 'analyzed', result: {} });
      await work('plan', { outcome: 'planned', result: { plan: 'Do it', plannedFiles: [] } });
      await settle();
      const branch = `svc/issue-${number}`;
      const headSha = await pushBranch(`${world.sandbox.url}/${slug}.git`, branch);
      const result = { branch, headSha, title: 'Done', body: '', changedFiles: ['new.txt'] };
      await work('develop', { outcome: 'submitted', result });
      await settle();
      expect((await issue()).state).toBe('in-review');
      await world.sandbox.flushWebhooks();
      const late = world.webhooks.splice(0);
      await rename(`cart-${serial}`);
      await settle();
      await deliver(late);
      await work('review', { outcome: 'approved', result: { body: 'Good' } });
      await work('merge', { outcome: 'mergeable', result: { headSha } });
      await settle();
      expect((await issue()).state).toBe('done');
      const pulls = await world.api<{ merged_at: string | null }[]>(
        'GET',
        `/repos/acme/cart-${serial}/pulls?state=all`,
      );
      expect(pulls).toEqual([expect.objectContaining({ merged_at: expect.any(String) })]);
    });

    test('a poll finds the new name when no webhook arrives, and the writes never failed before', async () => {
      await rename(`cart-${serial}`);
      world.webhooks.length = 0;
      await work('analyze', { outcome: 'analyzed', result: {} });
      await world.sandbox.flushWebhooks();
      world.webhooks.length = 0;
      do await executor.tick();
      while (await executor.landed());
      expect(await open()).toEqual([]);
      await poll();
      expect(await nameOf()).toBe(`acme/cart-${serial}`);
      expect(await labelsAt(`acme/cart-${serial}`)).toContain('svc:planning');
    });

    test('stays under its new name when deliveries of before arrive late and twice', async () => {
      await world.api('POST', `/repos/${slug}/issues/${number}/comments`, { body: '/svc:pause' });
      await world.sandbox.flushWebhooks();
      const late = world.webhooks.splice(0);
      await rename(`cart-${serial}`);
      const moved = await settle();
      expect(moved.some(({ event }) => event === 'repository')).toBe(true);
      await deliver(late);
      await deliver(moved);
      expect(await nameOf()).toBe(`acme/cart-${serial}`);
      expect(await eventsOf('repo_moved')).toHaveLength(1);
      expect(await isPaused()).toBe(true);
    });

    test('keeps its issues when another one is renamed to its old name', async () => {
      const other = `acme/other-${serial}`;
      await addOnHost(other);
      const second = await makeBench(database.store, other);
      await poll();
      await rename(`cart-${serial}`);
      await asOwner('PATCH', `/repos/${other}`, { name: slug.slice('acme/'.length) });
      // The second rename is heard of first.
      await world.sandbox.flushWebhooks();
      await deliver(world.webhooks.splice(0).toReversed());
      await poll();
      const names = await database.db
        .selectFrom('repos')
        .select(['id', 'slug_key'])
        .where('enabled', '=', true)
        .execute();
      expect(names.toSorted((a, b) => a.id - b.id)).toEqual([
        { id: bench.repo.id, slug_key: `acme/cart-${serial}` },
        { id: second.repo.id, slug_key: slug },
      ]);
    });
  });

  describe('a transferred repository', () => {
    test('goes on under its new owner', async () => {
      await asOwner('POST', `/repos/${slug}/transfer`, { new_owner: 'globex' });
      await settle();
      expect(await nameOf()).toBe(`globex/shop-${serial}`);
      await work('analyze', { outcome: 'analyzed', result: {} });
      await settle();
      expect(await labelsAt(`globex/shop-${serial}`)).toContain('svc:planning');
    });
  });

  describe('a repository that takes the name of a renamed one', () => {
    test('ignores the other repository, and its deliveries change nothing', async () => {
      await rename(`cart-${serial}`);
      await addOnHost(slug);
      const taken = await openIssue(world, slug);
      expect(taken).toBe(number);
      await world.api('POST', `/repos/${slug}/issues/${taken}/comments`, { body: '/svc:pause' });
      await world.sandbox.flushWebhooks();
      const sent = world.webhooks.splice(0);
      // The rename is heard of last.
      await deliver(sent.filter(({ event }) => event !== 'repository'));
      expect(await isPaused()).toBe(false);
      await deliver(sent);
      await settle();
      await work('analyze', { outcome: 'analyzed', result: {} });
      await settle();
      expect(await labelsAt(slug)).toEqual(['svc:enqueue']);
      expect(await labelsAt(`acme/cart-${serial}`)).toContain('svc:planning');
      expect(await isPaused()).toBe(false);
    });

    test('does not work on it when the original was deleted: its tasks wait and people are alerted', async () => {
      const { api } = world;
      await deleteOnHost();
      await addOnHost(slug);
      const taken = await openIssue(world, slug);
      await api('POST', `/repos/${slug}/issues/${taken}/comments`, { body: '/svc:pause' });
      await api('PATCH', `/repos/${slug}/issues/${taken}`, { state: 'closed' });
      await world.sandbox.flushWebhooks();
      // The deletion is not heard of.
      await deliver(world.webhooks.splice(0).filter(({ event }) => event !== 'repository'));
      expect(await issue()).toEqual({ state: 'analyzing', is_paused: false });
      await poll();
      expect(await stored()).toMatchObject({ unavailable: 'replaced', slug_key: slug });
      expect(await claimNext('analyze')).toBeNull();
      expect(await labelsAt(slug)).toEqual(['svc:enqueue']);
      expect(await api<unknown[]>('GET', `/repos/${slug}/issues/${taken}/comments`)).toHaveLength(1);
      expect(await alerts()).toEqual([
        { message: expect.stringMatching(/another repository has its name/), isOpen: true },
      ]);
      expect(await why()).toMatchObject({ reason: 'replaced' });
    });

    test('can be added by an operator only after the original was removed', async () => {
      await deleteOnHost();
      await addOnHost(slug);
      await poll();
      const found = await world.host.vcs.getRepo({ owner: 'acme', name: `shop-${serial}` });
      const { id, tenant_id, ...input } = { ...bench.repo, slug: { owner: 'acme', name: `shop-${serial}` } };
      const add = () =>
        putRepo(
          bench.engine,
          tenant_id,
          {
            slug: input.slug,
            vcsHost: 'sandbox',
            cloneUrl: found?.cloneUrl ?? '',
            defaultBranch: 'main',
            setupCommand: null,
            poolSize: null,
            installationId: null,
            enabled: true,
          },
          found,
        );
      await expect(add()).rejects.toThrow(/another repository/);
      await database.db.updateTable('repos').set({ enabled: false }).where('id', '=', id).execute();
      const added = await add();
      expect(added).toMatchObject({ slug_key: slug, host_id: found?.id, enabled: true });
      expect(added.id).not.toBe(id);
      expect((await stored()).slug_key).toBe(`${slug}.former-${id}`);
    });
  });

  describe('an archived repository', () => {
    test('waits with its tasks and writes, reports that, and continues when it is unarchived', async () => {
      const task = await claimNext('analyze');
      if (!task) throw new Error('no task');
      await asOwner('PATCH', `/repos/${slug}`, { archived: true });
      await settle();
      expect((await stored()).unavailable).toBe('archived');
      const ref = { tenantId: bench.tenantId, taskId: task.id, claimToken: task.claimToken };
      await start(bench.engine, ref);
      await report(bench.engine, ref, {
        ...{ outcome: 'analyzed', result: {} },
        ...{ artefacts: [], findings: [], invocations: [] },
      });
      await settle();
      expect(await claimNext('plan')).toBeNull();
      expect((await open()).map(({ status, attempts }) => [status, attempts])).toContainEqual(['pending', 0]);
      expect(await why()).toMatchObject({ reason: 'archived' });
      expect(await alerts()).toEqual([{ message: expect.stringMatching(/archived.*Unarchive/), isOpen: true }]);

      await asOwner('PATCH', `/repos/${slug}`, { archived: false });
      await settle();
      pass(3);
      await settle();
      expect((await stored()).unavailable).toBeNull();
      expect(await open()).toEqual([]);
      expect(await labelsAt(slug)).toContain('svc:planning');
      expect(await claimNext('plan')).not.toBeNull();
      expect(await alerts()).toEqual([{ message: expect.anything(), isOpen: false }]);
    });
  });

  /** Without an answer for the owner: 204. */
  async function deleteOnHost(): Promise<void> {
    const url = `${world.sandbox.url}/repos/${slug}`;
    const { status } = await fetch(url, { method: 'DELETE', headers: { authorization: `Bearer ${ACME.token}` } });
    expect(status).toBe(204);
  }

  async function why() {
    const found = await issueWhy(database.store.db, operatorScope(bench.repo), slug, number);
    return found?.issue?.repoUnavailable;
  }

  afterAll(() => database.clear());
});
