import type { CharterEnvelope, StrategyCharter } from '@pipeline/domain';
import { activeCharter, insertCharter, lockStrategy } from '@pipeline/store';
import { type Engine, inTenant } from '../context/context.ts';
import type { Actor } from '../context/issue-context.ts';
import { recordOperation } from '../records/records.ts';
import { findRepoAt, type RepoAddress } from '../repos/repo-address.ts';
import { repoEventSubject, strategyKey } from './snapshots.ts';

/**
 * The current charter; null before there is one.
 * @throws AppError as `findRepoAt`.
 */
export async function readCharter(engine: Engine, address: RepoAddress): Promise<StrategyCharter | null> {
  const repo = await findRepoAt(engine, address);
  return (await activeCharter(engine.store.db, strategyKey(repo))) ?? null;
}

interface CharterInput {
  goals: string;
  envelope: CharterEnvelope;
  author: string;
}

/**
 * Activates a charter in place of the previous one. Proposals must comply with it from now on.
 * @returns its version, one more than the previous.
 * @throws AppError as `findRepoAt`.
 */
export async function putCharter(
  engine: Engine,
  address: RepoAddress,
  charter: CharterInput,
  actor: Actor,
): Promise<number> {
  const key = strategyKey(await findRepoAt(engine, address));
  return inTenant(engine, key.tenantId, async (unit) => {
    await lockStrategy(unit.tx, key);
    const version = await insertCharter(unit.tx, key, charter);
    recordOperation(unit, repoEventSubject(key), actor, {
      action: 'strategy-charter',
      version,
      author: charter.author,
    });
    return version;
  });
}
