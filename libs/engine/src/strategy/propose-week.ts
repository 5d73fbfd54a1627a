import { appliesByItself, proposeStrategy, type StrategyInput } from '@pipeline/domain';
import { activeSnapshotVersion, insertSnapshot, type StrategyKey, supersedeWeekly } from '@pipeline/store';
import type { TransactionContext } from '../context/context.ts';
import type { Actor } from '../context/issue-context.ts';
import { recordPipelineEvent } from '../records/records.ts';
import { activate } from './activate.ts';
import { aboutRepo, snapshotAt } from './snapshots.ts';

/** The author of weekly proposals, who also applies those that the charter allows. */
const AUTOMATION: Actor = { type: 'system', id: 'strategy-automation', agent: null };

/**
 * Makes the weekly proposal, superseding an earlier one without a decision. Changes within the envelope and
 * max_auto_size are applied in the same transaction; others wait for an operator. The caller has locked the strategy
 * and its tracks.
 * @returns the snapshot's version; null without changes.
 */
export async function proposeWeek(
  unit: TransactionContext,
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
