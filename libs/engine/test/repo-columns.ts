import type { Comparison } from '@pipeline/domain';
import { jsonb } from '@pipeline/store';
import type { Stage } from './stage.ts';

/** Changes columns of the repo of a stage that the product sets from its configuration. */
export async function updateRepo(
  { database, tenantId, repo }: Pick<Stage, 'database' | 'tenantId' | 'repo'>,
  change: {
    checks_policy?: 'required' | 'all' | 'none';
    merge_train?: 'off' | 'serial';
    max_rounds?: number;
    compare?: Comparison | null;
  },
): Promise<void> {
  const { compare, ...columns } = change;
  const update = database.db
    .updateTable('repos')
    .set({ ...columns, ...(compare !== undefined && { compare: compare && jsonb(compare) }) });
  await update.where('tenant_id', '=', tenantId).where('id', '=', repo.id).execute();
}
