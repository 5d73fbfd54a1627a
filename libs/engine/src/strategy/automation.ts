import { isoWeek, nextIsoWeekStart, type StrategyAutomation, type StrategyRun } from '@pipeline/domain';
import {
  automationOf,
  isWeekDone,
  latestStrategyRun,
  lockStrategy,
  type StrategyKey,
  type StrategyLock,
  saveAutomation,
} from '@pipeline/store';
import { type Engine, inTenant, type TransactionContext } from '../context/context.ts';
import type { Actor } from '../context/issue-context.ts';
import { recordOperation } from '../records/records.ts';
import { findRepoAt, type RepoAddress } from '../repos/repo-address.ts';
import { repoEventSubject, strategyKey } from './snapshots.ts';

/**
 * The latest weekly cycle of a repo; null before there was one.
 * @throws AppError as `findRepoAt`.
 */
export async function readRunState(engine: Engine, address: RepoAddress): Promise<StrategyRun | null> {
  const repo = await findRepoAt(engine, address);
  return (await latestStrategyRun(engine.store.db, strategyKey(repo))) ?? null;
}

/** @throws AppError as `findRepoAt`. */
export async function readAutomation(engine: Engine, address: RepoAddress): Promise<StrategyAutomation> {
  const repo = await findRepoAt(engine, address);
  return automationOf(engine.store.db, strategyKey(repo));
}

/**
 * Turns the weekly cycle of a repo on or off. Turned on, it is due immediately, unless this week's has run.
 * @returns the new toggle. @throws AppError as `findRepoAt`.
 */
export async function setAutomation(
  engine: Engine,
  address: RepoAddress,
  enabled: boolean,
  actor: Actor,
): Promise<StrategyAutomation> {
  const key = strategyKey(await findRepoAt(engine, address));
  return inTenant(engine, key.tenantId, async (unit) => {
    const lock = await lockStrategy(unit.tx, key);
    const dueAt = enabled ? await dueOf(unit, key, lock) : null;
    await saveAutomation(unit.tx, key, { enabled, dueAt, by: actor.id ?? actor.type });
    recordOperation(unit, repoEventSubject(key), actor, { action: 'strategy-automation', enabled, was: lock.enabled });
    return automationOf(unit.tx, key);
  });
}

async function dueOf(unit: TransactionContext, key: StrategyKey, { due_at, now }: StrategyLock): Promise<string> {
  if (due_at !== null) return due_at;
  const at = new Date(now);
  return (await isWeekDone(unit.tx, key, isoWeek(at))) ? nextIsoWeekStart(at).toISOString() : now;
}
