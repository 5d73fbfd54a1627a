import type { State, WorkflowSnapshot } from '@pipeline/domain';
import { sql } from 'kysely';
import { svcNow } from '../driver/clock.ts';
import type { Db, Tx } from '../driver/database.ts';
import { jsonb } from '../driver/fragments.ts';

export interface WorkflowVersion {
  version: number;
  active: boolean;
  body: WorkflowSnapshot;
  created_at: string;
  created_by: string | null;
  activated_at: string | null;
  activated_by: string | null;
}

/** All versions of a repo's workflow, newest first. */
export const workflowVersions = (db: Db, tenantId: number, repoId: number): Promise<WorkflowVersion[]> =>
  db
    .selectFrom('workflow_snapshots')
    .select(['version', 'active', 'body', 'created_at', 'created_by', 'activated_at', 'activated_by'])
    .where('tenant_id', '=', tenantId)
    .where('repo_id', '=', repoId)
    .orderBy('version', 'desc')
    .execute() as Promise<WorkflowVersion[]>;

/**
 * Locks the workflow of a repo until the transaction ends, which serialises numbering and activation of versions.
 * Issues continue meanwhile: they read the repo without locking it.
 */
export async function lockWorkflow(tx: Tx, tenantId: number, repoId: number): Promise<void> {
  await tx
    .selectFrom('repos')
    .select('id')
    .where('tenant_id', '=', tenantId)
    .where('id', '=', repoId)
    .forNoKeyUpdate()
    .execute();
}

export async function insertWorkflow(
  tx: Tx,
  tenantId: number,
  repoId: number,
  { workflow, by }: { workflow: WorkflowSnapshot; by: string },
): Promise<void> {
  const key = { tenant_id: tenantId, repo_id: repoId, version: workflow.version };
  await tx
    .insertInto('workflow_snapshots')
    .values({ ...key, active: false, body: jsonb(workflow), created_by: by })
    .execute();
}

/** Activates one version and deactivates every other one. The caller holds the workflow's lock. */
export async function setActiveWorkflow(
  tx: Tx,
  tenantId: number,
  repoId: number,
  { version, by }: { version: number; by: string },
): Promise<void> {
  const ofRepo = tx.updateTable('workflow_snapshots').where('tenant_id', '=', tenantId).where('repo_id', '=', repoId);
  await ofRepo.set({ active: false }).where('active', '=', true).execute();
  await ofRepo.set({ active: true, activated_at: svcNow, activated_by: by }).where('version', '=', version).execute();
}

/** Number of issues in each state, without done ones. Cost: the open issues of the repo (issues_open). */
export async function countIssuesByState(
  db: Db,
  tenantId: number,
  repoId: number,
): Promise<Partial<Record<State, number>>> {
  const rows = await db
    .selectFrom('issues')
    .select(['state', sql<number>`count(*)::int`.as('count')])
    .where('tenant_id', '=', tenantId)
    .where('repo_id', '=', repoId)
    .where('is_open', '=', true)
    .groupBy('state')
    .execute();
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
}
