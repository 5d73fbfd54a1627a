import { beforeEach, describe, expect, test } from '@jest/globals';
import {
  activatePrompt,
  addPrompt,
  changeTrack,
  inTenant,
  listAllTracks,
  listPrompts,
  listTracks,
  putTrack,
  readPrompt,
  removeTrack,
  type Track,
  updateTrackAt,
} from '@pipeline/engine';
import { testDatabase } from '@pipeline/testing';
import { type Bench, makeBench } from '../harness.ts';

const database = testDatabase();
const OLGA = { type: 'operator', id: 'olga', agent: null, reason: 'because' } as const;
const TEXTS = { seed_title: 'Tidy up', seed_body: 'Please.', instructions: 'Be brief.', notes: '' };

let bench: Bench;
let slugs = 0;
let at: { owner: string; repo: string; name: string };

beforeEach(async () => {
  database.clock.now = new Date('2026-03-02T10:00:00.000Z');
  slugs += 1;
  bench = await makeBench(database.store, { slug: `acme/shop-${slugs}` });
  at = { owner: 'acme', repo: `shop-${slugs}`, name: 'tidy' };
});

const only = async (): Promise<Track> => {
  const [track, another] = await listTracks(bench.engine, at);
  if (!track || another) throw new Error('expected one track');
  return track;
};
const put = (input: Partial<Parameters<typeof putTrack>[2]> = {}) =>
  putTrack(bench.engine, at, { name: 'tidy', ...input }, OLGA);
const update = (change: Parameters<typeof updateTrackAt>[2]) =>
  updateTrackAt(bench.engine, at, change, { action: 'track-update', actor: OLGA });
const operations = async () =>
  (
    await database.db
      .selectFrom('pipeline_events')
      .select(['agent', 'payload'])
      .where('event_type', '=', 'operator_action')
      .where('repo_id', '=', bench.repo.id)
      .orderBy('id')
      .execute()
  ).map(({ payload }) => payload as Record<string, unknown>);

describe('a track', () => {
  test('starts with the defaults, due immediately, and is overdue when its cooldown has passed without a run', async () => {
    await put();
    expect(await only()).toEqual({
      name: 'tidy',
      label: '',
      cooldown_minutes: 60,
      enabled: true,
      active_version: 0,
      proposal: null,
      cadence: { kind: 'cooldown' },
      weight: 1,
      schedule_since: '2026-03-02T10:00:00.000Z',
      last_run_at: null,
      next_run_at: '2026-03-02T10:00:00.000Z',
      overdue: false,
    });
    database.clock.now = new Date('2026-03-02T11:00:00.000Z');
    expect((await only()).overdue).toBe(false);
    database.clock.now = new Date('2026-03-02T11:00:00.001Z');
    expect((await only()).overdue).toBe(true);
  });

  test('starts with the configured settings', async () => {
    const tracks = { cooldownMinutes: 90, weight: 2.5, maxOpenIssues: 10 };
    bench = await makeBench(database.store, { slug: `acme/shop-${slugs}`, settings: { tracks } });
    await put();
    expect(await only()).toMatchObject({ cooldown_minutes: 90, weight: 2.5 });
  });

  test('created again gets the given settings or their defaults, and keeps the others', async () => {
    await put({ label: 'tidy', cooldown_minutes: 5, enabled: false });
    await update({ proposal: [{ size: 'large', count: 2 }], weight: 3, cadence: { kind: 'cron', expr: '0 3 * * 1' } });
    await put();
    expect(await only()).toMatchObject({
      label: '',
      cooldown_minutes: 60,
      enabled: true,
      proposal: [{ size: 'large', count: 2 }],
      weight: 3,
      cadence: { kind: 'cron', expr: '0 3 * * 1' },
    });
  });

  test('keeps absent fields of a change; null clears the slate', async () => {
    await put({ label: 'tidy', cooldown_minutes: 5 });
    await update({ proposal: [{ size: 'small', count: 1, theme: 'tests' }] });
    await update({ weight: 0 });
    expect(await only()).toMatchObject({
      label: 'tidy',
      cooldown_minutes: 5,
      weight: 0,
      proposal: [{ theme: 'tests' }],
    });
    await update({ proposal: null });
    expect((await only()).proposal).toBeNull();
  });

  test('runs by a schedule from when that is set or enabled, not for earlier times', async () => {
    await put();
    await update({ cadence: { kind: 'cron', expr: '30 10 * * *' } });
    expect(await only()).toMatchObject({ next_run_at: '2026-03-02T10:30:00.000Z' });
    await update({ enabled: false });
    expect(await only()).toMatchObject({ next_run_at: null, overdue: false });
    database.clock.now = new Date('2026-03-05T12:00:00.000Z');
    await update({ enabled: true });
    expect(await only()).toMatchObject({ next_run_at: '2026-03-06T10:30:00.000Z' });
  });

  test.each([['61 * * * *'], ['0 0 30 2 *'], ['* * * * * *'], ['? * * * *'], ['now'], ['2030-01-01T00:00:00']])(
    'refuses the schedule %s and changes nothing',
    async (expr) => {
      await put();
      await expect(update({ weight: 9, cadence: { kind: 'cron', expr } })).rejects.toMatchObject({
        code: 'INVALID_BODY',
      });
      expect(await only()).toMatchObject({ weight: 1, cadence: { kind: 'cooldown' } });
    },
  );

  test('a deleted track is not listed, may be deleted again, and starts over when created again', async () => {
    await put();
    await addPrompt(bench.engine, at, TEXTS, OLGA);
    await removeTrack(bench.engine, at, OLGA);
    await removeTrack(bench.engine, at, OLGA);
    await removeTrack(bench.engine, { ...at, repo: 'unknown' }, OLGA);
    expect(await listTracks(bench.engine, at)).toEqual([]);
    await expect(update({ weight: 1 })).rejects.toMatchObject({ code: 'TRACK_NOT_FOUND' });
    await put();
    expect(await listPrompts(bench.engine, at)).toEqual([]);
    expect((await operations()).map(({ action }) => action)).toEqual([
      'track-create',
      'track-prompt-create',
      'track-delete',
      'track-create',
    ]);
  });

  test('changes a track inside the transaction of another use case, which gets the changes', async () => {
    await put();
    const changes = await inTenant(bench.engine, bench.tenantId, (unit) =>
      changeTrack(
        unit,
        { repoId: bench.repo.id, name: 'tidy' },
        { weight: 2, enabled: true, proposal: [{ size: 'medium', count: 1 }] },
        { action: 'strategy-apply', actor: OLGA, facts: { version: 7 } },
      ),
    );
    expect(changes).toEqual([
      { field: 'weight', from: 1, to: 2 },
      { field: 'proposal', from: null, to: [{ size: 'medium', count: 1 }] },
    ]);
    expect((await operations()).at(-1)).toEqual({
      action: 'strategy-apply',
      actorId: 'olga',
      reason: 'because',
      track: 'tidy',
      changes,
      version: 7,
    });
  });

  test('concurrent calls create a track once', async () => {
    await Promise.all(Array.from({ length: 6 }, (_, n) => put({ cooldown_minutes: n + 1 })));
    await only();
    const actions = (await operations()).map(({ action }) => action);
    expect(actions.filter((action) => action === 'track-create')).toHaveLength(1);
    expect(actions).toHaveLength(6);
  });
});

describe('prompts', () => {
  test('prompts have consecutive numbers when added concurrently, and are read as written', async () => {
    await put();
    const versions = await Promise.all(
      Array.from({ length: 8 }, (_, n) => addPrompt(bench.engine, at, { ...TEXTS, notes: `note ${n}` }, OLGA)),
    );
    expect(versions.sort()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect((await listPrompts(bench.engine, at)).map(({ version }) => version)).toEqual([8, 7, 6, 5, 4, 3, 2, 1]);
    expect(await readPrompt(bench.engine, at, 3)).toMatchObject({ ...TEXTS, notes: expect.any(String), version: 3 });
    await expect(readPrompt(bench.engine, at, 9)).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: 'Version 9 not found',
    });
  });

  test('activated concurrently are recorded with old and new version, and the last one is active', async () => {
    await put();
    for (let n = 0; n < 4; n += 1) await addPrompt(bench.engine, at, TEXTS, OLGA);
    await Promise.all([1, 2, 3, 4, 2, 1].map((version) => activatePrompt(bench.engine, at, version, OLGA)));
    const moves = (await operations()).filter(({ action }) => action === 'track-prompt-activate');
    expect(moves).toHaveLength(6);
    // Each is recorded while it holds the track's lock, so the records are in the order of the changes.
    let active = 0;
    for (const { from, to } of moves) {
      expect(from).toBe(active);
      active = to as number;
    }
    expect((await only()).active_version).toBe(active);
  });
});

test('the tracks of all repos are listed with their tenant; those of a disabled repo are not', async () => {
  await put();
  const mine = async () => (await listAllTracks(bench.engine)).filter(({ repo_name }) => repo_name === at.repo);
  expect(await mine()).toMatchObject([{ tenant: 'acme', owner: 'acme', name: 'tidy' }]);
  await database.db.updateTable('repos').set({ enabled: false }).where('id', '=', bench.repo.id).execute();
  expect(await mine()).toEqual([]);
});
