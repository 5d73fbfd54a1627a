import { afterAll, describe, expect, test } from '@jest/globals';
import { updateTrackAt } from '@pipeline/engine';
import { OLGA, START, testStrategyCycle } from './cycle-world.ts';
import { database } from './database.ts';
import { at, BASE, makeTrack } from './strategy-world.ts';

describe('the cycle of a strategy', () => {
  const { env, day, get, run, automation, snapshot, tick, charter, turn, weights, regress, finding, ready } =
    testStrategyCycle(database);

  describe('what a cycle makes', () => {
    test('applies changes that the charter permits automatically, and explains them', async () => {
      await ready();
      await regress('autonomy_rate');
      await finding('flaky tests', 'low');
      await tick();
      const made = await snapshot(1);
      expect(made).toMatchObject({
        status: 'active',
        source: 'weekly',
        isoWeek: '2026-W52',
        parentVersion: null,
        charterVersion: 1,
        proposedBy: 'strategy-automation',
        approvedBy: 'strategy-automation',
        approvedAt: new Date(START).toISOString(),
        activatedAt: new Date(START).toISOString(),
        costUsd: 0,
        intent: 'More work on docs, tests.',
        risk: { maxSize: 'small', withinEnvelope: true, violations: [], needsApproval: [] },
        evidence: [
          { kind: 'kpi', ref: 'kpi:autonomy_rate', summary: 'autonomy_rate is 0.4, was 0.3: a medium regression' },
        ],
      });
      expect(await weights()).toEqual({ tests: 1.5, docs: 1.5 });
      expect(await run()).toEqual({
        outcome: 'proposed',
        failureReason: null,
        costUsd: 0,
        nextDueAt: '2026-12-28T00:00:00.000Z',
        createdAt: new Date(START).toISOString(),
        consecutiveFailures: 0,
        isoWeek: '2026-W52',
        snapshotVersion: 1,
      });
      expect(await automation()).toMatchObject({
        nextProposalAt: '2026-12-28T00:00:00.000Z',
        lastProposedIsoWeek: '2026-W52',
      });
      const events = await database.db
        .selectFrom('pipeline_events')
        .select(['event_type', 'agent', 'payload'])
        .where('event_type', 'in', ['strategy_proposed', 'strategy_activated'])
        .orderBy('id', 'desc')
        .limit(2)
        .execute();
      expect(events).toEqual([
        { event_type: 'strategy_activated', agent: 'strategy-automation', payload: { version: 1 } },
        {
          event_type: 'strategy_proposed',
          agent: 'strategy-automation',
          payload: { version: 1, isoWeek: '2026-W52', applied: true },
        },
      ]);
    });

    const SLATE = [{ size: 'small' as const, count: 1 }];

    test('changes above max_auto_size wait for an operator, who may approve them', async () => {
      await ready();
      await makeTrack(env.bench, 'injection', { proposal: SLATE });
      await finding('injection', 'critical');
      await finding('docs', 'critical', 'dismissed');
      await tick();
      expect(await snapshot(1)).toMatchObject({
        status: 'proposed',
        risk: {
          maxSize: 'large',
          withinEnvelope: true,
          needsApproval: ['it asks for large work, above max_auto_size medium'],
        },
      });
      expect(await weights()).toEqual({ tests: 1, docs: 1, injection: 1 });
      expect((await env.call('POST', `${BASE}/snapshots/1/approve`)).status).toBe(200);
      expect(await weights()).toEqual({ tests: 1, docs: 1, injection: 1.5 });
      const { proposal } = await database.db
        .selectFrom('tracks')
        .select('proposal')
        .where('name', '=', 'injection')
        .executeTakeFirstOrThrow();
      expect(proposal).toEqual([...SLATE, { size: 'large', count: 1, theme: 'agent report: injection' }]);
    });

    test('counts only findings that an operator has accepted when agentKnowledge is approved', async () => {
      const { settings } = env.bench.engine;
      env.bench.engine.settings = () => ({
        ...settings(),
        retrieval: { ...settings().retrieval, agentKnowledge: 'approved' },
      });
      try {
        await ready();
        await makeTrack(env.bench, 'injection', { proposal: SLATE });
        await finding('injection', 'critical');
        await tick();
        expect(await weights()).toEqual({ tests: 1, docs: 1, injection: 1 });
        await database.db.updateTable('findings').set({ status: 'accepted' }).execute();
        day(7);
        await tick();
        expect(await snapshot(1)).toMatchObject({ status: 'proposed', isoWeek: '2026-W53' });
      } finally {
        env.bench.engine.settings = settings;
      }
    });

    test('changes that the charter escalates wait, also small ones', async () => {
      await ready({ escalate_when: ['autonomy rate'] });
      await regress('autonomy_rate');
      await tick();
      expect(await snapshot(1)).toMatchObject({ status: 'proposed', activatedAt: null });
      expect(await weights()).toEqual({ tests: 1, docs: 1 });
    });

    test('a proposal without a decision gives way to the one of the next week', async () => {
      await ready({ escalate_when: ['tests'] });
      for (const days of [0, 7]) {
        day(days);
        await regress('autonomy_rate');
        await tick();
      }
      expect(await snapshot(1)).toMatchObject({ status: 'superseded', supersededBy: 2, approvedAt: null });
      expect(await snapshot(2)).toMatchObject({ status: 'proposed', parentVersion: null, isoWeek: '2026-W53' });
      expect((await env.call('POST', `${BASE}/snapshots/1/approve`)).status).toBe(422);
      expect((await env.call('POST', `${BASE}/snapshots/2/approve`)).status).toBe(200);
    });

    test('reverts changes whose reason is over, but not what an operator has set', async () => {
      await ready();
      await regress('autonomy_rate');
      await tick();
      await updateTrackAt(
        env.bench.engine,
        { ...at, name: 'docs' },
        { weight: 3 },
        { action: 'track-update', actor: OLGA },
      );
      day(7);
      await tick();
      expect(await weights()).toEqual({ tests: 1, docs: 3 });
      expect(await snapshot(2)).toMatchObject({ status: 'active', parentVersion: 1, intent: 'Less on tests.' });
    });

    test('makes no snapshot when there is nothing to change; figures older than a week count for nothing', async () => {
      await regress('autonomy_rate');
      day(8);
      await ready();
      await tick();
      expect(await run()).toMatchObject({ outcome: 'no_change', snapshotVersion: null, failureReason: null });
      expect(await get('/snapshots')).toEqual({ items: [], snapshot: true });
    });

    test('skips the cycle without tracks, and names the reason', async () => {
      await charter();
      await turn(true);
      await tick();
      expect(await run()).toMatchObject({ outcome: 'skipped', failureReason: 'the repo has no tracks' });
    });
  });

  afterAll(() => database.clear());
});
