import type { AgentKnowledge, StrategyCharter, StrategyInput, StrategyTrack } from '@pipeline/domain';
import {
  openFindingsByKind,
  pastChanges,
  type StrategyKey,
  strategyKpis,
  type TrackRow,
  type Tx,
} from '@pipeline/store';

/** The fields of a track that the rules read. */
export const strategyTrackOf = ({ name, label, enabled, weight, proposal }: TrackRow): StrategyTrack => ({
  name,
  label,
  enabled,
  weight,
  proposal,
});

interface StrategySources {
  charter: StrategyCharter;
  tracks: readonly TrackRow[];
  /**
   * Categories of findings become themes of issues, so a category that no operator has accepted is used only if it is
   * marked.
   */
  agentKnowledge: AgentKnowledge;
}

/** All inputs of the weekly proposal; the caller has locked the tracks. */
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
