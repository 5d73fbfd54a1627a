import type { StrategyChange, StrategySnapshot } from '@pipeline/domain';
import { putTrack, updateTrackAt } from '@pipeline/engine';
import { insertSnapshot, inTransaction, lockStrategy, type NewSnapshot } from '@pipeline/store';
import type { Bench } from './bench.ts';

export const BASE = '/api/strategy/acme/shop';
const ACTOR = { type: 'operator', id: 'test', agent: null } as const;
export const at = { owner: 'acme', repo: 'shop' };

export const ENVELOPE = { max_auto_size: 'medium' as const, prefer: [], avoid: [], escalate_when: [] };

/** A change of a weight, of a track `tests` unless it says another one. */
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
  inTransaction(engine.store.tenant, async (tx) => {
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
