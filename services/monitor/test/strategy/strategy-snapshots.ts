import { afterAll, describe, expect, test } from '@jest/globals';
import { removeTrack, updateTrackAt } from '@pipeline/engine';
import type { Answer } from '../support/served-app.ts';
import { database } from './database.ts';
import { at, BASE, ENVELOPE, refused, START, strategyOfShop, weight } from './strategy-world.ts';

describe('snapshots of a strategy', () => {
  const { call, get, read, list, approve, reject, putCharter, propose, makeTrack, engine, weightOf, events } =
    strategyOfShop(database);
  const CHARTER = { goals: 'Fewer blocked issues', envelope: ENVELOPE };

  describe('snapshots', () => {
    test('lists snapshots newest first, proposed and active ones unless others are requested', async () => {
      await makeTrack('tests');
      expect(await get('/snapshots')).toEqual({ items: [], snapshot: true });
      const first = await propose([weight(1, 2)]);
      await approve(first);
      const second = await propose([weight(2, 3)], { parentVersion: first });
      await approve(second);
      const third = await propose([weight(3, 4)], { parentVersion: second });
      const fourth = await propose([], { parentVersion: second });
      await reject(fourth);
      expect([first, second, third, fourth]).toEqual([1, 2, 3, 4]);
      expect(await list()).toEqual([3, 2]);
      expect(await list('?status=proposed')).toEqual([3]);
      expect(await list('?status=active')).toEqual([2]);
      expect(await list('?status=superseded')).toEqual([1]);
      expect(await list('?status=approved')).toEqual([]);
      expect(await read(4)).toMatchObject({ version: 4, status: 'rejected' });
    });

    test.each(['rejected', 'open', ''])('no list of status "%s"', async (status) => {
      const answer = await call('GET', `${BASE}/snapshots?status=${status}`);
      expect(refused(answer)).toEqual([400, 'INVALID_INPUT', expect.stringMatching(/^status: .*superseded/)]);
    });

    test('no list of two statuses', async () => {
      const answer = await call('GET', `${BASE}/snapshots?status=proposed&status=active`);
      expect(refused(answer)).toEqual([400, 'INVALID_INPUT', 'status is given 2 times; give it once']);
    });

    test('one is read whole', async () => {
      const version = await propose([weight(1, 2)], {
        source: 'weekly',
        isoWeek: '2026-W10',
        charterVersion: 3,
        costUsd: 0.25,
      });
      expect(await read(version)).toEqual({
        version: 1,
        status: 'proposed',
        intent: 'More work on tests.',
        rationale: 'tests: it helps',
        parentVersion: null,
        charterVersion: 3,
        proposedBy: 'olga',
        createdAt: START.toISOString(),
        isoWeek: '2026-W10',
        source: 'weekly',
        changes: [weight(1, 2)],
        slate: [{ track: 'tests', size: 'small', count: 1 }],
        risk: { maxSize: 'small', withinEnvelope: true, violations: [], needsApproval: [] },
        evidence: [{ kind: 'kpi', ref: 'kpi:autonomy_rate', summary: 'autonomy_rate fell' }],
        approvedAt: null,
        approvedBy: null,
        activatedAt: null,
        supersededAt: null,
        supersededBy: null,
        rejectedAt: null,
        rejectionReason: null,
        costUsd: 0.25,
      });
    });

    const VERBS = [
      ['GET', ''],
      ['POST', '/approve'],
      ['POST', '/reject'],
    ] as const;

    test.each(VERBS)('%s %s: a version that is no integer is 400, one that is unknown 404', async (method, suffix) => {
      for (const version of ['abc', '1.5', '1x', '%20', '0x1', '1e3']) {
        const answer = await call(method, `${BASE}/snapshots/${version}${suffix}`);
        expect(refused(answer)).toEqual([400, 'INVALID_INPUT', 'version: must be an integer']);
      }
      for (const version of ['1', '0', '-1', '2147483648', '99999999999999999999']) {
        const answer = await call(method, `${BASE}/snapshots/${version}${suffix}`);
        expect(refused(answer)).toEqual([404, 'SNAPSHOT_NOT_FOUND', expect.stringMatching(/^Snapshot .* not found$/)]);
      }
    });
  });

  describe('approve', () => {
    test('lands in active, is applied to the tracks and supersedes the former', async () => {
      await makeTrack('tests');
      await makeTrack('docs', { weight: 2, proposal: [{ size: 'small', count: 1 }] });
      const first = await propose([]);
      await approve(first);
      database.clock.now = new Date('2026-03-05T00:00:00.000Z');
      const slate = [{ size: 'medium' as const, count: 2, theme: 'guides' }];
      const second = await propose(
        [
          weight(1, 1.5),
          { ...weight(2, 1, 'docs') },
          { ...weight(1, 1, 'docs'), field: 'proposal', from: [{ count: 1, size: 'small' }], to: slate },
        ],
        { parentVersion: first },
      );
      const answer = await approve(second, { approver: 'anna', reason: 'looks right' });
      expect([answer.status, answer.json]).toEqual([200, { ok: true }]);
      const now = '2026-03-05T00:00:00.000Z';
      expect(await read(second)).toMatchObject({
        status: 'active',
        approvedAt: now,
        approvedBy: 'anna',
        activatedAt: now,
        supersededAt: null,
      });
      expect(await read(first)).toMatchObject({
        status: 'superseded',
        approvedBy: 'operator',
        supersededAt: now,
        supersededBy: second,
      });
      expect([await weightOf('tests'), await weightOf('docs')]).toEqual([1.5, 1]);
      const tracks = await database.db.selectFrom('tracks').select(['name', 'proposal']).orderBy('name').execute();
      expect(tracks).toEqual([
        { name: 'docs', proposal: slate },
        { name: 'tests', proposal: null },
      ]);
      expect((await events('strategy_activated')).slice(-2)).toEqual([{ version: first }, { version: second }]);
      expect(await events('operator_action')).toContainEqual({
        action: 'strategy-approve',
        actorId: 'olga',
        reason: 'looks right',
        version: second,
        approver: 'anna',
      });
      expect(await events('operator_action')).toContainEqual({
        action: 'track-strategy',
        actorId: 'olga',
        reason: 'looks right',
        track: 'tests',
        version: second,
        changes: [{ field: 'weight', from: 1, to: 1.5 }],
      });
    });

    const unchanged = async (version: number) => {
      expect(await read(version)).toMatchObject({ status: 'proposed', approvedAt: null, approvedBy: null });
      expect(await list('?status=active')).toEqual([]);
      expect(await weightOf('tests')).toBe(1);
    };
    const stale = (version: number, why: string) => [
      422,
      'STRATEGY_APPLY_FAILED',
      `Snapshot ${version} cannot be applied: ${why}`,
    ];

    test('refuses the approval when another snapshot became active since', async () => {
      await makeTrack('tests');
      const [first, second] = [await propose([]), await propose([weight(1, 2)])];
      await approve(first);
      expect(refused(await approve(second))).toEqual(
        stale(second, 'it was made on no snapshot, and snapshot 1 is active'),
      );
      expect(await read(second)).toMatchObject({ status: 'proposed' });
      expect([await weightOf('tests'), await list()]).toEqual([1, [2, 1]]);
    });

    test('refuses the approval when its parent is not active any more', async () => {
      await makeTrack('tests');
      const version = await propose([weight(1, 2)], { parentVersion: 7 });
      expect(refused(await approve(version))).toEqual(
        stale(version, 'it was made on snapshot 7, and no snapshot is active'),
      );
      await unchanged(version);
    });

    test('refuses the whole approval when one track has other values by now, or is gone', async () => {
      for (const name of ['tests', 'zoo']) await makeTrack(name);
      const version = await propose([weight(1, 2), weight(1, 2, 'zoo')]);
      const actor = { type: 'operator', id: 'anna', agent: null } as const;
      await updateTrackAt(engine(), { ...at, name: 'zoo' }, { weight: 5 }, { action: 'track-update', actor });
      expect(refused(await approve(version))).toEqual(stale(version, 'weight of track "zoo" is 5 by now, not 1'));
      await unchanged(version);
      await removeTrack(engine(), { ...at, name: 'zoo' }, actor);
      expect(refused(await approve(version))).toEqual(stale(version, 'track "zoo" is gone'));
      await unchanged(version);
    });

    test('refuses the approval when the current charter forbids it, and not for its size', async () => {
      await makeTrack('tests', { proposal: [{ size: 'epic', count: 1, theme: 'rewrite' }] });
      const version = await propose([weight(1, 2)]);
      await putCharter({ ...CHARTER, envelope: { ...ENVELOPE, avoid: ['Rewrite'] } });
      expect(refused(await approve(version))).toEqual(
        stale(version, 'it is beyond the charter: tests weight: the charter avoids "Rewrite"'),
      );
      await unchanged(version);
      await putCharter({ ...CHARTER, envelope: { ...ENVELOPE, max_auto_size: 'small' } });
      expect((await approve(version)).status).toBe(200);
    });

    test.each([
      ['not JSON', '{', 'Invalid JSON body'],
      ['an approver that is no text', { approver: 3 }, /^approver: /],
      ['a blank approver', { approver: ' ' }, 'approver: must not be blank'],
      ['a list', [], expect.any(String)],
    ])('refuses an approval with %s', async (_what, body, text) => {
      await makeTrack('tests');
      const version = await propose([weight(1, 2)]);
      const message = text instanceof RegExp ? expect.stringMatching(text) : text;
      expect(refused(await approve(version, body))).toEqual([400, 'INVALID_INPUT', message]);
      await unchanged(version);
    });

    test.each(['active', 'superseded', 'rejected', 'approved'] as const)('%s: 422', async (status) => {
      const version = await propose([]);
      await database.db.updateTable('strategy_snapshots').set({ status }).execute();
      expect(refused(await approve(version))).toEqual(stale(version, `it is ${status}, not proposed`));
      expect(refused(await reject(version))).toEqual([
        400,
        'INVALID_INPUT',
        `Snapshot ${version} is ${status}: only proposed snapshots can be rejected`,
      ]);
      expect(await read(version)).toMatchObject({ status, rejectionReason: null });
    });
  });

  describe('two operators at the same instant', () => {
    test('approve the same snapshot: one wins, the other gets 422', async () => {
      await makeTrack('tests');
      let parentVersion: number | null = null;
      for (let round = 1; round <= 30; round += 1) {
        const version: number = await propose([weight(round, round + 1)], { parentVersion });
        const answers = await Promise.all([
          approve(version, { approver: 'anna' }),
          approve(version, { approver: 'bert' }),
        ]);
        expect(answers.map(({ status }) => status).sort()).toEqual([200, 422]);
        const winner = answers[0]?.status === 200 ? 'anna' : 'bert';
        const loser = answers.find(({ status }) => status === 422) as Answer;
        expect(refused(loser)).toEqual([
          422,
          'STRATEGY_APPLY_FAILED',
          `Snapshot ${version} cannot be applied: it is active, not proposed`,
        ]);
        expect(await read(version)).toMatchObject({ status: 'active', approvedBy: winner });
        expect([await weightOf('tests'), await list('?status=active')]).toEqual([round + 1, [version]]);
        parentVersion = version;
      }
      expect(
        (await events('strategy_activated')).slice(-30).map((payload) => (payload as { version: number }).version),
      ).toEqual(Array.from({ length: 30 }, (_, index) => index + 1));
    });

    test('approve two snapshots of the same parent: one wins, the other is stale', async () => {
      await makeTrack('tests');
      let parentVersion: number | null = null;
      for (let round = 0; round < 15; round += 1) {
        const now = (await weightOf('tests')) ?? 0;
        const both: number[] = [];
        for (const to of [now + 1, now + 2]) both.push(await propose([weight(now, to)], { parentVersion }));
        const answers = await Promise.all(both.map((version) => approve(version)));
        expect(answers.map(({ status }) => status).sort()).toEqual([200, 422]);
        parentVersion = both[answers.findIndex(({ status }) => status === 200)] ?? null;
        expect(await list('?status=active')).toEqual([parentVersion]);
        expect(await weightOf('tests')).toBe(parentVersion === both[0] ? now + 1 : now + 2);
      }
    });

    test('one approves, the other rejects: one of both happens', async () => {
      await makeTrack('tests');
      let parentVersion: number | null = null;
      for (let round = 0; round < 15; round += 1) {
        const version: number = await propose([], { parentVersion });
        const [approved, rejected] = await Promise.all([approve(version), reject(version)]);
        const { status } = await read(version);
        if (status === 'active') parentVersion = version;
        expect([approved?.status, rejected?.status, status]).toEqual(
          status === 'active' ? [200, 400, 'active'] : [422, 200, 'rejected'],
        );
      }
    });
  });

  describe('reject', () => {
    test('a rejection is permanent, keeps the reason and changes no track', async () => {
      await makeTrack('tests');
      const version = await propose([weight(1, 2)]);
      expect((await reject(version, { reason: ' too much ' })).json).toEqual({ ok: true });
      expect(await read(version)).toMatchObject({
        status: 'rejected',
        rejectedAt: START.toISOString(),
        rejectionReason: ' too much ',
      });
      expect([await weightOf('tests'), await list()]).toEqual([1, []]);
      expect((await events('operator_action')).slice(-1)).toEqual([
        { action: 'strategy-reject', actorId: 'olga', reason: ' too much ', version },
      ]);
    });

    test('needs no body; the reason is then unknown', async () => {
      const version = await propose([]);
      expect((await reject(version)).json).toEqual({ ok: true });
      expect(await read(version)).toMatchObject({ status: 'rejected', rejectionReason: null });
    });

    test.each([
      ['not JSON', 'reason=x', 'Invalid JSON body'],
      ['a reason that is no text', { reason: 5 }, /^reason: /],
    ])('refuses a rejection with %s', async (_what, body, text) => {
      const version = await propose([]);
      const message = text instanceof RegExp ? expect.stringMatching(text) : text;
      expect(refused(await reject(version, body))).toEqual([400, 'INVALID_INPUT', message]);
      expect(await read(version)).toMatchObject({ status: 'proposed' });
    });
  });

  afterAll(() => database.clear());
});
