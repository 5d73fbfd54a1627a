import { afterAll, afterEach, beforeAll } from '@jest/globals';
import type { StrategyChange, StrategySnapshot } from '@pipeline/domain';
import { putTrack, updateTrackAt } from '@pipeline/engine';
import { insertSnapshot, inTransaction, lockStrategy, type NewSnapshot, tracksOfRepo } from '@pipeline/store';
import type { testDatabase } from '@pipeline/testing';
import { type Bench, makeBench } from '../support/bench.ts';
import { type Answer, type Call, serveConnected } from '../support/served-app.ts';

export const BASE = '/api/strategy/acme/shop';
const ACTOR = { type: 'operator', id: 'test', agent: null } as const;
export const at = { owner: 'acme', repo: 'shop' };

export const ENVELOPE = { max_auto_size: 'medium' as const, prefer: [], avoid: [], escalate_when: [] };

/** A change of a weight, of a track `tests` unless it names another one. */
export const weight = (from: number, to: number, track = 'tests'): StrategyChange => ({
  track,
  field: 'weight',
  from,
  to,
  rule: 'regressed-kpi',
  reason: `${track}: it helps`,
  evidence: ['kpi:autonomy_rate'],
  about: ['autonomy_rate'],
});

export const makeTrack = async (
  { engine }: Pick<Bench, 'engine'>,
  name: string,
  change: Parameters<typeof updateTrackAt>[2] = {},
): Promise<void> => {
  await putTrack(engine, at, { name }, ACTOR);
  await updateTrackAt(engine, { ...at, name }, change, { action: 'track-update', actor: ACTOR });
};

/** Adds a proposed snapshot. @returns its version. */
export const propose = (
  { engine, tenantId, repo }: Bench,
  changes: StrategyChange[],
  over: Partial<NewSnapshot> = {},
): Promise<number> =>
  inTransaction(engine.store.db, async (tx) => {
    const key = { tenantId, repoId: repo.id };
    await lockStrategy(tx, key);
    return insertSnapshot(tx, key, {
      intent: 'More work on tests.',
      rationale: 'tests: it helps',
      changes,
      slate: [{ track: 'tests', size: 'small', count: 1 }],
      risk: { maxSize: 'small', withinEnvelope: true, violations: [], needsApproval: [] },
      evidence: [{ kind: 'kpi', ref: 'kpi:autonomy_rate', summary: 'autonomy_rate fell' }],
      source: 'operator',
      proposedBy: 'olga',
      isoWeek: null,
      parentVersion: null,
      charterVersion: null,
      costUsd: null,
      ...over,
    });
  });

export type Snapshot = Record<keyof StrategySnapshot, unknown>;

export const START = new Date('2026-03-04T05:06:07.000Z');

/** Status, code and text of a refusal. */
export const refused = ({ status, json }: Answer) => [
  status,
  (json as { code: string }).code,
  (json as { error: string }).error,
];

/** Serves the strategy of Acme/Shop for the tests of a file, empty before each and with the clock held. */
export function strategyOfShop(database: ReturnType<typeof testDatabase>) {
  let bench: Bench;
  let served: Awaited<ReturnType<typeof serveConnected>>;
  beforeAll(async () => {
    database.clock.now = START;
    bench = await makeBench(database.store, 'Acme/Shop');
    served = await serveConnected({ engine: bench.engine });
  });
  afterAll(() => served.close());
  afterEach(async () => {
    database.clock.now = START;
    for (const table of [
      'strategy_snapshots',
      'strategy_charters',
      'strategy_automation',
      'strategy_runs',
      'tracks',
    ] as const)
      await database.db.deleteFrom(table).execute();
  });

  const call: Call = (...request) => served.call(...request);
  const get = async (path: string) => (await call('GET', `${BASE}${path}`)).json as never as Record<string, never>;
  const decide = (verb: 'approve' | 'reject') => (version: number | string, body?: unknown) =>
    call('POST', `${BASE}/snapshots/${version}/${verb}`, { body });
  return {
    call,
    get,
    approve: decide('approve'),
    reject: decide('reject'),
    putCharter: (body: unknown) => call('PUT', `${BASE}/charter`, { body }),
    read: async (version: number) => (await get(`/snapshots/${version}`)).snapshot as never as Snapshot,
    list: async (query = '') =>
      ((await get(`/snapshots${query}`)).items as never as Snapshot[]).map(({ version }) => version),
    propose: (...given: Parameters<typeof propose> extends [Bench, ...infer Rest] ? Rest : never) =>
      propose(bench, ...given),
    makeTrack: (...given: Parameters<typeof makeTrack> extends [unknown, ...infer Rest] ? Rest : never) =>
      makeTrack(bench, ...given),
    engine: () => bench.engine,
    weightOf: async (name: string) => {
      const tracks = await tracksOfRepo(database.store.db, { tenantId: bench.tenantId, repoId: bench.repo.id });
      return tracks.find((track) => track.name === name)?.weight;
    },
    events: async (type: string) => {
      const rows = await database.db
        .selectFrom('pipeline_events')
        .select('payload')
        .where('event_type', '=', type)
        .orderBy('id')
        .execute();
      return rows.map(({ payload }) => payload);
    },
  };
}
