import { isDeepStrictEqual } from 'node:util';
import { AppError, assessRisk, type StrategyChange, type StrategySnapshot, type TrackSettings } from '@pipeline/domain';
import {
  activateSnapshot,
  activeCharter,
  activeSnapshotVersion,
  lockTracksOfRepo,
  type StrategyKey,
  type TrackRow,
} from '@pipeline/store';
import type { TransactionContext } from '../context/context.ts';
import type { Actor } from '../context/issue-context.ts';
import { recordPipelineEvent } from '../records/records.ts';
import { applyChange, recordTrack } from '../tracks/change-track.ts';
import { settingsOfTrack } from '../tracks/track-view.ts';
import { strategyTrackOf } from './inputs.ts';
import { repoEventSubject } from './snapshots.ts';

/**
 * Makes a proposed snapshot the active one: applies its changes to the tracks and supersedes the previous one. The
 * caller holds the strategy's lock; tracks are locked here. On any error the transaction rolls back.
 * @throws AppError STRATEGY_APPLY_FAILED when it is stale or violates the current charter.
 */
export async function activate(
  unit: TransactionContext,
  key: StrategyKey,
  snapshot: StrategySnapshot,
  by: { approver: string; actor: Actor },
): Promise<void> {
  const { version, changes, parentVersion } = snapshot;
  const active = await activeSnapshotVersion(unit.tx, key);
  if (active !== parentVersion)
    throw refusal(version, `it was made on ${named(parentVersion)}, and ${named(active)} is active`);
  const tracks = new Map((await lockTracksOfRepo(unit.tx, key)).map((track) => [track.name, track]));
  for (const change of changes) checkFrom(version, change, tracks.get(change.track));
  const charter = await activeCharter(unit.tx, key);
  const { violations } = assessRisk(changes, [...tracks.values()].map(strategyTrackOf), charter?.envelope ?? null);
  if (violations.length > 0) throw refusal(version, `it is beyond the charter: ${violations.join('; ')}`);
  for (const [name, track] of tracks) {
    const mine = changes.filter((change) => change.track === name);
    if (mine.length === 0) continue;
    const made = await applyChange(unit, track, Object.fromEntries(mine.map(({ field, to }) => [field, to])));
    recordTrack(unit, track, { action: 'track-strategy', actor: by.actor, facts: { version, changes: made } });
  }
  await activateSnapshot(unit.tx, key, version, by.approver);
  recordPipelineEvent(unit, repoEventSubject(key), {
    eventType: 'strategy_activated',
    agent: by.actor.id ?? by.actor.type,
    payload: { version },
  });
}

function checkFrom(version: number, { track: name, field, from }: StrategyChange, track: TrackRow | undefined): void {
  if (!track) throw refusal(version, `track "${name}" is gone`);
  const now = (settingsOfTrack(track) satisfies TrackSettings)[field];
  if (isDeepStrictEqual(now, from)) return;
  throw refusal(version, `${field} of track "${name}" is ${JSON.stringify(now)} by now, not ${JSON.stringify(from)}`);
}

const named = (version: number | null): string => (version === null ? 'no snapshot' : `snapshot ${version}`);

export const refusal = (version: number, why: string): AppError =>
  new AppError('STRATEGY_APPLY_FAILED', `Snapshot ${version} cannot be applied: ${why}`);
