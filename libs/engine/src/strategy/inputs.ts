import type { StrategyCharter, StrategyInput, StrategyTrack } from '@pipeline/domain';
import {
  openFindingsByKind,
  pastChanges,
  type StrategyKey,
  strategyKpis,
  type TrackRow,
  type Tx,
} from '@pipeline/store';

/** What the rules look at of a track. */
export const strategyTrackOf = ({ name, label, enabled, weight, proposal }: TrackRow): StrategyTrack => ({
  name,
  label,
  enabled,
  weight,
  proposal,
});

/** All that the proposal of a week is made from; the caller holds the tracks, so that none changes meanwhile. */
export async function strategyInput(
  tx: Tx,
  key: StrategyKey,
  { charter, tracks }: { charter: StrategyCharter; tracks: readonly TrackRow[] },
): Promise<StrategyInput> {
  return {
    charter,
    kpis: await strategyKpis(tx, key),
    findings: await openFindingsByKind(tx, key),
    tracks: tracks.map(strategyTrackOf),
    past: await pastChanges(tx, key),
  };
}
