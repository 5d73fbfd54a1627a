import type { AgentKnowledge, StrategyCharter, StrategyInput, StrategyTrack } from '@pipeline/domain';
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

export interface StrategySources {
  charter: StrategyCharter;
  tracks: readonly TrackRow[];
  /** Categories of findings become themes of issues, so what no operator has accepted counts only where it is marked. */
  agentKnowledge: AgentKnowledge;
}

/** All that the proposal of a week is made from; the caller holds the tracks, so that none changes meanwhile. */
export async function strategyInput(
  tx: Tx,
  key: StrategyKey,
  { charter, tracks, agentKnowledge }: StrategySources,
): Promise<StrategyInput> {
  return {
    charter,
    kpis: await strategyKpis(tx, key),
    findings: await openFindingsByKind(tx, key, agentKnowledge === 'approved' ? ['accepted'] : ['open', 'accepted']),
    tracks: tracks.map(strategyTrackOf),
    past: await pastChanges(tx, key),
  };
}
