import type { Stage } from './stage.ts';

/** Changes columns of the repo of a stage that the product sets from its configuration. */
export async function updateRepo(
  { database, tenantId, repo }: Pick<Stage, 'database' | 'tenantId' | 'repo'>,
  change: { checks_policy?: 'required' | 'all' | 'none'; merge_train?: 'off' | 'serial' },
): Promise<void> {
  const update = database.db.updateTable('repos').set(change);
  await update.where('tenant_id', '=', tenantId).where('id', '=', repo.id).execute();
}
