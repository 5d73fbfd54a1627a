import type { State } from '@pipeline/domain';
import type { TestDatabase } from '@pipeline/testing';
import type { Insertable } from 'kysely';
import type { DB } from '../src/index.ts';
import { ensureTenant, inTransaction, type RepoRow, upsertRepo } from '../src/index.ts';
import { aRepo } from './a-repo.ts';

/** Rows of one repo, written directly, so that they may contradict each other. */
export interface World {
  repo: RepoRow;
  tenantId: number;
  scope: { tenantId: number; repoId: number };
  issue(number: number, row?: Partial<Insertable<DB['issues']>>): Promise<number>;
  edge(kind: 'depends_on' | 'subtask', child: number, parent: number, active?: boolean): Promise<number>;
}

const AT = '2026-01-01T00:00:00.000Z';

export async function makeWorld(
  database: TestDatabase,
  slug: string,
  tenant = slug.split('/')[0] ?? '',
): Promise<World> {
  const tenantId = await ensureTenant(database.store.db, tenant);
  const repo = await inTransaction(database.store.db, (tx) => upsertRepo(tx, tenantId, aRepo(slug)));
  const { db } = database;
  const key = { tenant_id: tenantId, repo_id: repo.id };
  return {
    repo,
    tenantId,
    scope: { tenantId, repoId: repo.id },
    async issue(number, row = {}) {
      const state: State = row.state ?? 'planning';
      const { id } = await db
        .insertInto('issues')
        .values({
          ...key,
          issue_number: number,
          title: `Issue ${number}`,
          body: '',
          url: '',
          host_created_at: AT,
          host_updated_at: AT,
          state_entered_at: AT,
          labels: state === 'new' ? [] : [`svc:${state}`],
          ...row,
          state,
        })
        .returning('id')
        .executeTakeFirstOrThrow();
      return id;
    },
    async edge(kind, child, parent, active = true) {
      const { id } = await db
        .insertInto('issue_edges')
        .values({
          tenant_id: tenantId,
          kind,
          active,
          child_repo_id: repo.id,
          child_issue_number: child,
          parent_repo_id: repo.id,
          parent_issue_number: parent,
        })
        .returning('id')
        .executeTakeFirstOrThrow();
      return id;
    },
  };
}
