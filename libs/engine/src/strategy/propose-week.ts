import { appliesByItself, proposeStrategy, type StrategyInput } from '@pipeline/domain';
import { activeSnapshotVersion, insertSnapshot, type StrategyKey, supersedeWeekly } from '@pipeline/store';
import type { Unit } from '../context/context.ts';
import type { Actor } from '../context/issue-context.ts';
import { recordPipelineEvent } from '../records/records.ts';
import { activate } from './activate.ts';
import { aboutRepo, snapshotAt } from './snapshots.ts';

/** Who proposes, and applies what the charter lets pass. */
export const AUTOMATION: Actor = { type: 'system', id: 'strategy-automation', agent: null };

/**
 * Makes the proposal of a week, in place of an earlier one that nobody has decided about. What is within the envelope
 * and max_auto_size is applied in the same transaction; the rest waits for an operator. The caller holds the strategy
 * and its tracks.
 * @returns the snapshot's version; null when nothing is to be changed.
 */
export async function proposeWeek(
  unit: Unit,
  key: StrategyKey,
  input: StrategyInput,
  week: string,
): Promise<number | null> {
  const proposal = proposeStrategy(input);
  if (proposal.changes.length === 0) return null;
  const version = await insertSnapshot(unit.tx, key, {
    ...proposal,
    source: 'weekly',
    proposedBy: 'strategy-automation',
    isoWeek: week,
    parentVersion: await activeSnapshotVersion(unit.tx, key),
    charterVersion: input.charter.version,
    costUsd: 0,
  });
  await supersedeWeekly(unit.tx, key, version);
  const applied = appliesByItself(proposal.risk);
  recordPipelineEvent(unit, aboutRepo(key), {
    eventType: 'strategy_proposed',
    agent: 'strategy-automation',
    payload: { version, isoWeek: week, applied },
  });
  if (!applied) return version;
  const snapshot = await snapshotAt(unit.tx, key, version);
  await activate(unit, key, snapshot, { approver: 'strategy-automation', actor: AUTOMATION });
  return version;
}
