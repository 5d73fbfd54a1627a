import type { CharterEnvelope, StrategyCharter } from '@pipeline/domain';
import type { Db, Tx } from '../driver/database.ts';
import { jsonb } from '../driver/fragments.ts';
import type { StrategyKey } from './strategy-cycle.ts';

/** The current charter: the newest one. */
export const activeCharter = (db: Db, { tenantId, repoId }: StrategyKey): Promise<StrategyCharter | undefined> =>
  db
    .selectFrom('strategy_charters')
    .select(['version', 'goals', 'envelope', 'author', 'created_at'])
    .where('tenant_id', '=', tenantId)
    .where('repo_id', '=', repoId)
    .orderBy('version', 'desc')
    .limit(1)
    .executeTakeFirst();

/**
 * Activates the next version. The caller holds the strategy's lock, so that versions follow each other.
 * @returns its version.
 */
export async function insertCharter(
  tx: Tx,
  { tenantId, repoId }: StrategyKey,
  charter: { goals: string; envelope: CharterEnvelope; author: string },
): Promise<number> {
  const former = await activeCharter(tx, { tenantId, repoId });
  const version = (former?.version ?? 0) + 1;
  await tx
    .insertInto('strategy_charters')
    .values({
      tenant_id: tenantId,
      repo_id: repoId,
      version,
      goals: charter.goals,
      envelope: jsonb(charter.envelope),
      author: charter.author,
    })
    .execute();
  return version;
}
