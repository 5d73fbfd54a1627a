import { beforeEach, describe, expect, test } from '@jest/globals';
import type { TrackChange } from '@pipeline/domain';
import {
  activatePrompt,
  addPrompt,
  listFindings,
  listTracks,
  putTrack,
  removeTrack,
  runDueTracks,
  steerProjection,
  updateTrackAt,
} from '@pipeline/engine';
import { testDatabase } from '@pipeline/testing';
import {
  applyHostIssue,
  type Bench,
  drain,
  finish,
  hostIssue,
  listsAgreeAfterEach,
  makeBench,
  step,
  take,
  workUntil,
} from '../harness.ts';

const database = testDatabase();
listsAgreeAfterEach(database);
const OLGA = { type: 'operator', id: 'olga', agent: null } as const;
const START = Date.parse('2026-03-02T10:00:00.000Z');
const MINUTE = 60_000;

let bench: Bench;
let slugs = 0;

const after = (minutes: number) => {
  database.clock.now = new Date(START + minutes * MINUTE);
};
const at = (name: string) => ({ owner: bench.repo.owner, repo: bench.repo.name, name });

beforeEach(async () => {
  await database.db.updateTable('repos').set({ enabled: false }).execute();
  await database.db.updateTable('projections').set({ status: 'complete' }).execute();
  after(0);
  slugs += 1;
  bench = await makeBench(database.store, { slug: `acme/shop-${slugs}`, tenant: `t${slugs}` });
});

/** A track with an active prompt. */
async function track(name: string, change: TrackChange = {}): Promise<void> {
  await putTrack(bench.engine, at(name), { name }, OLGA);
  const texts = { seed_title: `Do ${name}`, seed_body: 'Please.', instructions: `How to ${name}.`, notes: '' };
  await addPrompt(bench.engine, at(name), texts, OLGA);
  await activatePrompt(bench.engine, at(name), 1, OLGA);
  await updateTrackAt(bench.engine, at(name), change, { action: 'track-update', actor: OLGA });
}

const seeds = () =>
  database.db
    .selectFrom('si_issues')
    .selectAll()
    .where('repo_id', '=', bench.repo.id)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
const hostWrites = () =>
  database.db
    .selectFrom('projections')
    .selectAll()
    .where('repo_id', '=', bench.repo.id)
    .where('issue_id', 'is', null)
    .orderBy('id')
    .execute();
const byTrack = async () => {
  const count: Record<string, number> = {};
  for (const { track_name } of await seeds()) count[track_name] = (count[track_name] ?? 0) + 1;
  return count;
};
const times = async (name: string) => {
  const { last_run_at, next_run_at, overdue } =
    (await listTracks(bench.engine, at(name))).find((one) => one.name === name) ?? {};
  return { last_run_at, next_run_at, overdue };
};

describe('a track that is due', () => {
  test('creates its slate on the host with the texts of its active prompt, and is due again after its cooldown', async () => {
    await track('tests', {
      label: 'tests',
      proposal: [
        { size: 'small', count: 2, theme: 'flaky tests', label: 'flaky' },
        { size: 'large', count: 1 },
      ],
    });
    expect(await runDueTracks(bench.engine)).toEqual({ runs: 1, issues: 3 });
    expect((await hostWrites()).map(({ action }) => action)).toMatchObject([
      {
        type: 'createIssue',
        title: 'Do tests: flaky tests (1/2)',
        body: 'Please.\n\n---\nFrom the track tests: size small, about flaky tests, prompt version 1.',
        labels: ['tests', 'flaky'],
      },
      { title: 'Do tests: flaky tests (2/2)' },
      { title: 'Do tests', labels: ['tests'] },
    ]);
    expect(await seeds()).toMatchObject([
      { track_name: 'tests', prompt_version: 1, size: 'small', issue_number: null, completed_at: null },
      { size: 'small' },
      { size: 'large', theme: null },
    ]);
    expect(await runDueTracks(bench.engine)).toEqual({ runs: 0, issues: 0 });
    expect(await times('tests')).toEqual({
      last_run_at: '2026-03-02T10:00:00.000Z',
      next_run_at: '2026-03-02T11:00:00.000Z',
      overdue: false,
    });
    const event = await database.db
      .selectFrom('pipeline_events')
      .select('payload')
      .where('event_type', '=', 'track_run')
      .where('repo_id', '=', bench.repo.id)
      .executeTakeFirst();
    expect(event?.payload).toEqual({ track: 'tests', promptVersion: 1, issues: 3, dueAt: '2026-03-02T10:00:00.000Z' });
  });

  test('creates one small issue without a slate', async () => {
    await track('tests');
    await runDueTracks(bench.engine);
    expect(await seeds()).toMatchObject([{ size: 'small', theme: null }]);
  });

  test.each(['no prompt', 'off', 'deleted', 'repo disabled'])('creates nothing: %s', async (why) => {
    if (why === 'no prompt') await putTrack(bench.engine, at('tests'), { name: 'tests' }, OLGA);
    else await track('tests', { enabled: why !== 'off' });
    if (why === 'deleted') await removeTrack(bench.engine, at('tests'), OLGA);
    if (why === 'repo disabled') await database.db.updateTable('repos').set({ enabled: false }).execute();
    expect(await runDueTracks(bench.engine)).toEqual({ runs: 0, issues: 0 });
    expect(await seeds()).toEqual([]);
  });

  test('a track that was missed while nothing ran is run once', async () => {
    await track('tests');
    await track('hourly', { cadence: { kind: 'cron', expr: '0 * * * *' } });
    await runDueTracks(bench.engine);
    after(60 * 24 * 3 + 30);
    expect(await times('hourly')).toMatchObject({ overdue: true });
    await runDueTracks(bench.engine);
    await runDueTracks(bench.engine);
    expect(await byTrack()).toEqual({ tests: 2, hourly: 1 });
    expect(await times('hourly')).toMatchObject({ next_run_at: '2026-03-05T11:00:00.000Z', overdue: false });
  });

  test('creates its issues once with several concurrent schedulers', async () => {
    for (const name of ['one', 'two', 'three']) await track(name);
    const results = await Promise.all(Array.from({ length: 6 }, () => runDueTracks(bench.engine)));
    expect(results.reduce((sum, { issues }) => sum + issues, 0)).toBe(3);
    expect(await byTrack()).toEqual({ one: 1, two: 1, three: 1 });
    expect(await hostWrites()).toHaveLength(3);
  });

  test('a track in a failing repo does not affect other repos', async () => {
    await track('tests');
    const broken = bench;
    bench = await makeBench(database.store, { slug: `acme/other-${slugs}`, tenant: `t${slugs}` });
    await track('tests');
    await database.db
      .deleteFrom('track_prompts')
      .where('tenant_id', '=', broken.tenantId)
      .where('track_id', 'in', (eb) => eb.selectFrom('tracks').select('id').where('repo_id', '=', broken.repo.id))
      .execute();
    await expect(runDueTracks(bench.engine)).rejects.toThrow('repos with due tracks: 1 of 2 failed');
    expect(await byTrack()).toEqual({ tests: 1 });
  });
});

describe('the slots of a repo', () => {
  const crowd = (maxOpenIssues: number) =>
    makeBench(database.store, {
      slug: `acme/shop-${slugs}`,
      tenant: `t${slugs}`,
      settings: { tracks: { cooldownMinutes: 60, weight: 1, maxOpenIssues } },
    });
  const many = (weight: number): TrackChange => ({ weight, proposal: [{ size: 'small', count: 50 }] });

  test('due tracks share the slots by weight', async () => {
    bench = await crowd(8);
    await track('heavy', many(3));
    await track('light', many(1));
    await track('idle', many(0));
    expect(await runDueTracks(bench.engine)).toEqual({ runs: 2, issues: 8 });
    expect(await byTrack()).toEqual({ heavy: 6, light: 2 });
  });

  test('keep a track due while none is free', async () => {
    bench = await crowd(1);
    await track('first', { weight: 2 });
    await track('second');
    await runDueTracks(bench.engine);
    expect(await byTrack()).toEqual({ first: 1 });
    after(61);
    expect(await runDueTracks(bench.engine)).toEqual({ runs: 0, issues: 0 });
    expect(await times('second')).toEqual({
      last_run_at: null,
      next_run_at: '2026-03-02T10:00:00.000Z',
      overdue: true,
    });
    await workUntil(bench, 'merge-pending');
    await step(bench);
    expect(await runDueTracks(bench.engine)).toEqual({ runs: 1, issues: 1 });
    expect(await byTrack()).toEqual({ first: 1, second: 1 });
  });

  test('follow recent issues when they become free one by one: no weight starves', async () => {
    bench = await crowd(1);
    await track('heavy', { weight: 3, cooldown_minutes: 1 });
    await track('light', { weight: 1, cooldown_minutes: 1 });
    for (let n = 0; n < 16; n += 1) {
      after(n * 2);
      await runDueTracks(bench.engine);
      await database.db
        .updateTable('si_issues')
        .set({ completed_at: new Date().toISOString() })
        .where('repo_id', '=', bench.repo.id)
        .execute();
    }
    expect(await byTrack()).toEqual({ heavy: 12, light: 4 });
  });

  test('an issue that is not created yet occupies a slot, and an operator releases it by discarding the issue', async () => {
    bench = await crowd(1);
    await track('tests', { cooldown_minutes: 1 });
    await runDueTracks(bench.engine);
    bench.host.nextResults.push({ status: 'refused', httpStatus: 410, message: 'issues are off', kind: 'other' });
    await drain(bench);
    const [hostWrite] = await hostWrites();
    expect(hostWrite).toMatchObject({ status: 'failed', error: '410: issues are off' });
    after(2);
    expect((await runDueTracks(bench.engine)).issues).toBe(0);
    await steerProjection(bench.engine, hostWrite?.id ?? 0, 'discard', OLGA);
    expect((await runDueTracks(bench.engine)).issues).toBe(1);
    // Retried, it occupies its slot again.
    await steerProjection(bench.engine, hostWrite?.id ?? 0, 'retry', OLGA);
    await drain(bench);
    expect((await seeds()).map(({ completed_at, issue_number }) => [completed_at, issue_number === null])).toEqual([
      [null, false],
      [null, false],
    ]);
  });

  test('a failed creation does not block a slot', async () => {
    await track('one');
    await track('two');
    await runDueTracks(bench.engine);
    bench.host.nextResults.push({ status: 'refused', httpStatus: 422, message: 'no', kind: 'other' });
    bench.host.nextResults.push({ status: 'failed', message: 'later', ambiguous: false });
    after(1);
    await track('three');
    await runDueTracks(bench.engine);
    await drain(bench);
    expect((await hostWrites()).map(({ status }) => status)).toEqual(['failed', 'pending', 'complete']);
  });
});

describe('an issue of a track', () => {
  /** One issue that exists on the host. @returns its number. */
  async function made(name = 'tests', change: TrackChange = {}): Promise<number> {
    await track(name, change);
    await runDueTracks(bench.engine);
    await drain(bench);
    return (await seeds()).at(-1)?.issue_number ?? 0;
  }
  const gaps = async () => (await listFindings(bench.engine)).findings.filter(({ kind }) => kind === 'si_linkage_gap');

  test('the issue is admitted and linked, and every task has the prompt it was created with', async () => {
    const number = await made();
    await addPrompt(
      bench.engine,
      at('tests'),
      { seed_title: '', seed_body: '', instructions: 'New.', notes: '' },
      OLGA,
    );
    await activatePrompt(bench.engine, at('tests'), 2, OLGA);
    await removeTrack(bench.engine, at('tests'), OLGA);
    const task = await take(bench);
    expect(task).toMatchObject({
      issueNumber: number,
      taskType: 'analyze',
      promptVersion: 1,
      payload: { instructions: 'How to tests.', issue: { title: 'Do tests' } },
    });
  });

  test('passes its prompt to its subtasks; other issues have none', async () => {
    await made();
    const epic = await take(bench);
    const part = { title: 'Part', body: '', labels: [] };
    await finish(bench, epic, { outcome: 'split', result: { subtasks: [part] } });
    await drain(bench);
    expect(await take(bench)).toMatchObject({ promptVersion: 1, payload: { instructions: 'How to tests.' } });
    await applyHostIssue(bench, hostIssue(7));
    expect(await take(bench)).toMatchObject({ issueNumber: 7, promptVersion: null, payload: { instructions: null } });
  });

  test('the seed is complete when its issue is done, and open again when it is reopened', async () => {
    const number = await made();
    expect((await seeds())[0]?.completed_at).toBeNull();
    after(5);
    await workUntil(bench, 'merge-pending');
    await step(bench);
    expect((await seeds())[0]?.completed_at).toBe('2026-03-02T10:05:00.000Z');
    expect(await gaps()).toEqual([]);
    const reopened = hostIssue(number, { labels: ['svc:enqueue'], updatedAt: '2026-03-02T11:00:00.000Z' });
    await applyHostIssue(bench, reopened, { action: 'reopened' });
    expect((await seeds())[0]?.completed_at).toBeNull();
  });

  test('an issue that was admitted by a poll and closed before the result of its creation is linked and complete', async () => {
    await track('tests');
    await runDueTracks(bench.engine);
    // The next number of the host.
    await applyHostIssue(bench, hostIssue(1_001));
    await applyHostIssue(bench, hostIssue(1_001, { state: 'closed', labels: [] }), { action: 'closed' });
    await drain(bench);
    expect(await seeds()).toMatchObject([{ issue_number: 1_001, completed_at: expect.any(String) }]);
    expect(await gaps()).toEqual([]);
  });

  test('creates the issue once when the result is reported twice', async () => {
    await track('tests');
    await runDueTracks(bench.engine);
    await drain(bench);
    const [hostWrite] = await hostWrites();
    await steerProjection(bench.engine, hostWrite?.id ?? 0, 'retry', OLGA);
    // The host finds it by its marker.
    const number = (await seeds())[0]?.issue_number ?? 0;
    bench.host.nextResults.push({ status: 'ok', repeated: true, created: { number, url: '' } });
    await drain(bench);
    expect(await seeds()).toMatchObject([{ issue_number: number }]);
  });
});
