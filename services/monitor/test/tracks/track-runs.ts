import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { activatePrompt, addPrompt, Leader, putTrack, runDueTracks, updateTrackAt } from '@pipeline/engine';
import { createMetrics, silentLogger } from '@pipeline/runtime';
import type { Notifications } from '@pipeline/store';
import { createOutboxMetrics } from '../../src/outbox/metrics.ts';
import { ProjectionExecutor } from '../../src/outbox/projections.ts';
import { overdueGauge } from '../../src/tracks/overdue-gauge.ts';
import { type Bench, makeBench } from '../support/bench.ts';
import { connectedDoorbell, makeWorld, type World } from '../support/sandbox-world.ts';
import { database } from './database.ts';

describe('runs of tracks', () => {
  const SLUG = 'acme/shop';
  const AT = { owner: 'acme', repo: 'shop', name: 'tests' };
  const OLGA = { type: 'operator', id: 'olga', agent: null } as const;
  const START = Date.parse('2026-03-02T10:00:00.000Z');

  let bench: Bench;
  let world: World;
  const bells: Notifications[] = [];
  const now = () => database.clock.now ?? new Date();
  const after = (minutes: number) => {
    database.clock.now = new Date(START + minutes * 60_000);
  };

  beforeEach(async () => {
    after(0);
    world = await makeWorld([SLUG], now);
    bench = await makeBench(database.store, SLUG);
    for (let replica = 0; replica < 2; replica += 1) bells.push(await connectedDoorbell(database.url));
    for (const table of ['projection_attempts', 'projections', 'si_issues', 'track_prompts', 'tracks'] as const)
      await database.db.deleteFrom(table).execute();
    await putTrack(bench.engine, AT, { name: 'tests', label: 'tests' }, OLGA);
    const texts = {
      seed_title: 'Write tests',
      seed_body: 'Where there are few.',
      instructions: 'Be thorough.',
      notes: '',
    };
    await addPrompt(bench.engine, AT, texts, OLGA);
    await activatePrompt(bench.engine, AT, 1, OLGA);
  });
  afterEach(async () => {
    for (const bell of bells.splice(0)) await bell.close();
    await world.stop();
  });

  const bell = (replica: number): Notifications => {
    const found = bells[replica];
    if (!found) throw new Error(`no replica ${replica}`);
    return found;
  };
  const scheduler = (replica: number) => {
    const lead = new Leader(bell(replica));
    return () => lead.run(bench.engine, runDueTracks);
  };
  const executor = () =>
    new ProjectionExecutor({
      engine: bench.engine,
      host: world.host.vcs,
      leader: new Leader(bell(0)),
      budget: null,
      metrics: createOutboxMetrics(createMetrics().registry),
      log: silentLogger,
      now,
    });
  const drain = async (one: ProjectionExecutor) => {
    do await one.tick();
    while (await one.landed());
  };
  interface HostIssue {
    number: number;
    title: string;
    body: string;
    labels: { name: string }[];
  }
  const onHost = () => world.api<HostIssue[]>('GET', `/repos/${SLUG}/issues?state=all&sort=created&direction=asc`);
  const linked = () =>
    database.db.selectFrom('si_issues').select(['issue_number', 'size']).orderBy('issue_number').execute();

  test('the issues of a slate stand on the host, labelled, linked and in the pipeline', async () => {
    const proposal = [{ size: 'medium' as const, count: 2, theme: 'the cart', label: 'cart' }];
    await updateTrackAt(bench.engine, AT, { proposal }, { action: 'track-update', actor: OLGA });
    await scheduler(0)();
    await drain(executor());
    const issues = await onHost();
    expect(issues.map(({ title }) => title)).toEqual(['Write tests: the cart (1/2)', 'Write tests: the cart (2/2)']);
    expect(issues[0]?.body).toMatch(/^Where there are few\.\n\n---\nFrom the track tests: size medium, about the cart/);
    for (const { labels } of issues)
      expect(labels.map(({ name }) => name).sort()).toEqual(['cart', 'svc:analyzing', 'tests']);
    expect(await linked()).toEqual(issues.map(({ number }) => ({ issue_number: number, size: 'medium' })));
    const tasks = await database.db
      .selectFrom('tasks')
      .select(['task_type', 'issue_number'])
      .orderBy('issue_number')
      .execute();
    expect(tasks).toEqual(issues.map(({ number }) => ({ task_type: 'analyze', issue_number: number })));
  });

  test('an issue whose answer was lost on the way is found on the host and not made twice', async () => {
    const proposal = [{ size: 'small' as const, count: 2 }];
    await updateTrackAt(bench.engine, AT, { proposal }, { action: 'track-update', actor: OLGA });
    await scheduler(0)();
    world.sandbox.failNext({ drop: 'after', match: { method: 'POST', path: `/repos/${SLUG}/issues` } });
    const one = executor();
    await drain(one);
    expect((await linked()).filter(({ issue_number }) => issue_number === null)).toHaveLength(1);
    after(10);
    await drain(one);
    const issues = await onHost();
    expect(issues.map(({ title }) => title)).toEqual(['Write tests (1/2)', 'Write tests (2/2)']);
    expect(await linked()).toEqual(issues.map(({ number }) => ({ issue_number: number, size: 'small' })));
  });

  test('one of two replicas schedules, and the other takes over: no run is made twice, none is lost', async () => {
    const [first, second] = [scheduler(0), scheduler(1)];
    await first();
    await Promise.all([first(), second(), first(), second()]);
    expect(await linked()).toHaveLength(1);
    after(60);
    await second();
    expect(await linked()).toHaveLength(1);
    await Promise.all([second(), first()]);
    expect(await linked()).toHaveLength(2);
    await bell(0).close();
    after(120);
    for (let round = 0; (await linked()).length < 3 && round < 100; round += 1) await second();
    await second();
    expect(await linked()).toHaveLength(3);
  });

  test('tracks that are late are counted by repo', async () => {
    const { registry } = createMetrics();
    const gauge = overdueGauge(registry, bench.engine);
    const shown = async () => {
      await gauge.look();
      return registry.getSingleMetricAsString('svc_tracks_overdue');
    };
    expect(await shown()).not.toContain(SLUG);
    after(61);
    expect(await shown()).toContain(`svc_tracks_overdue{repo="${SLUG}"} 1`);
    await scheduler(0)();
    expect(await shown()).not.toContain(SLUG);
  });

  afterAll(() => database.clear());
});
