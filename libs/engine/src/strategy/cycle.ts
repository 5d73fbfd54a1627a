import {
  type AgentKnowledge,
  appliesByItself,
  isoWeek,
  nextIsoWeekStart,
  proposeStrategy,
  retryProposalAfterMs,
  type StrategyInput,
} from '@pipeline/domain';
import {
  activeCharter,
  activeSnapshotVersion,
  dueStrategies,
  insertSnapshot,
  insertStrategyRun,
  isWeekDone,
  latestStrategyRun,
  lockStrategy,
  lockTracksOfRepo,
  type NewStrategyRun,
  putOffCycle,
  type StrategyKey,
  supersedeWeekly,
} from '@pipeline/store';
import { type Engine, inTenant, type TransactionContext } from '../context/context.ts';
import type { Actor } from '../context/issue-context.ts';
import { recordPipelineEvent } from '../records/records.ts';
import { activate } from './activate.ts';
import { strategyInput } from './inputs.ts';
import { repoEventSubject, snapshotAt } from './snapshots.ts';

const BATCH = 100;
const LONGEST_REASON = 500;

interface CycleFailure {
  key: StrategyKey;
  error: unknown;
}

/**
 * Runs the weekly cycle of due repos, each in its own transaction. A failed one is recorded, retried later in its week,
 * and does not affect the others.
 * @returns the failures, and whether more may be due.
 */
export async function runDueStrategies(engine: Engine): Promise<{ failures: CycleFailure[]; more: boolean }> {
  const due = await dueStrategies(engine.store.db, BATCH);
  const failures: CycleFailure[] = [];
  for (const key of due) {
    try {
      await inTenant(engine, key.tenantId, (unit) => runCycle(unit, key, engine.settings().retrieval.agentKnowledge));
    } catch (error) {
      failures.push({ key, error });
      await inTenant(engine, key.tenantId, (unit) => recordFailure(unit, key, error));
    }
  }
  return { failures, more: due.length === BATCH };
}

interface Due {
  week: string;
  now: Date;
}

/** Checks again under the lock: another replica may have been faster, or the cycle was turned off. */
async function stillDue(unit: TransactionContext, key: StrategyKey): Promise<Due | null> {
  const { enabled, due_at, now } = await lockStrategy(unit.tx, key);
  if (!enabled || due_at === null || Date.parse(due_at) > Date.parse(now)) return null;
  const at = new Date(now);
  return { week: isoWeek(at), now: at };
}

async function runCycle(unit: TransactionContext, key: StrategyKey, agentKnowledge: AgentKnowledge): Promise<void> {
  const due = await stillDue(unit, key);
  const charter = await activeCharter(unit.tx, key);
  if (!due || !charter) return;
  const nextDueAt = nextIsoWeekStart(due.now).toISOString();
  await putOffCycle(unit.tx, key, nextDueAt);
  if (await isWeekDone(unit.tx, key, due.week)) return;
  const ended = { isoWeek: due.week, nextDueAt, failureReason: null, consecutiveFailures: 0, snapshotVersion: null };
  const tracks = await lockTracksOfRepo(unit.tx, key);
  if (tracks.length === 0) {
    await end(unit, key, { ...ended, outcome: 'skipped', failureReason: 'the repo has no tracks' });
    return;
  }
  const input = await strategyInput(unit.tx, key, { charter, tracks, agentKnowledge });
  const snapshotVersion = await proposeWeek(unit, key, input, due.week);
  await end(unit, key, { ...ended, outcome: snapshotVersion === null ? 'no_change' : 'proposed', snapshotVersion });
}

/** Rules have no model cost. */
const end = (unit: TransactionContext, key: StrategyKey, run: Omit<NewStrategyRun, 'costUsd'>): Promise<void> =>
  insertStrategyRun(unit.tx, key, { ...run, costUsd: 0 });

async function recordFailure(unit: TransactionContext, key: StrategyKey, error: unknown): Promise<void> {
  const due = await stillDue(unit, key);
  if (!due) return;
  const consecutiveFailures = ((await latestStrategyRun(unit.tx, key))?.consecutiveFailures ?? 0) + 1;
  const nextDueAt = new Date(due.now.getTime() + retryProposalAfterMs(consecutiveFailures)).toISOString();
  await putOffCycle(unit.tx, key, nextDueAt);
  await insertStrategyRun(unit.tx, key, {
    isoWeek: due.week,
    outcome: 'failed',
    failureReason: (error instanceof Error ? error.message : String(error)).slice(0, LONGEST_REASON),
    costUsd: null,
    snapshotVersion: null,
    nextDueAt,
    consecutiveFailures,
  });
}

/** The author of weekly proposals, who also applies those that the charter allows. */
const AUTOMATION: Actor = { type: 'system', id: 'strategy-automation', agent: null };

/**
 * Makes the weekly proposal, superseding an earlier one without a decision. Changes within the envelope and
 * max_auto_size are applied in the same transaction; others wait for an operator. The caller has locked the strategy
 * and its tracks.
 * @returns the snapshot's version; null without changes.
 */
async function proposeWeek(
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
  recordPipelineEvent(unit, repoEventSubject(key), {
    eventType: 'strategy_proposed',
    agent: 'strategy-automation',
    payload: { version, isoWeek: week, applied },
  });
  if (!applied) return version;
  const snapshot = await snapshotAt(unit.tx, key, version);
  await activate(unit, key, snapshot, { approver: 'strategy-automation', actor: AUTOMATION });
  return version;
}
