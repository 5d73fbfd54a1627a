import type { Lane, ProjectionAction } from '@pipeline/domain';
import { LANES } from '@pipeline/domain';
import { sql } from 'kysely';
import type { Db, Tx } from '../driver/database.ts';
import { type Params, prepared } from '../driver/prepared.ts';

/** The form in which the outbox is indexed. */
export interface IssueKey {
  tenant_id: number;
  repo_id: number;
  issue_number: number;
}

export interface SendableProjection {
  tenant_id: number;
  id: number;
  repo_id: number;
  issue_number: number;
  action: ProjectionAction;
  /** True = its lane has another entry behind it. */
  has_next: boolean;
}

/**
 * The oldest open entry of every lane of every issue that may be sent to that kind of host now. A failed entry, and one
 * that waits for its backoff, block their lane; entries without an issue (number 0) are independent of each other and
 * block none. Repos take turns, so that the writes which one of them causes do not use up the budget of the others.
 * Reads the open entries only (partial index `projections_open`).
 */
export const sendableProjections = (fleet: Db, clientType: string, limit: number): Promise<SendableProjection[]> =>
  sendableHeads.all(fleet, { clientType, limit });

const sendableHeads = prepared(
  'sendable-projections',
  (_db, p: Params<{ clientType: string; limit: number }>) => sql<SendableProjection>`
    /* fleet: the executor serves every tenant */ select tenant_id, id, repo_id, issue_number, action, has_next from (
      select distinct on (tenant_id, repo_id, issue_number, lane)
        tenant_id, id, repo_id, issue_number, action, client_type, status, retry_after,
        lead(id) over (partition by tenant_id, repo_id, issue_number, lane order by id) is not null as has_next
      from projections
      where status in ('pending', 'failed')
        and (issue_number > 0 or (status = 'pending' and (retry_after is null or retry_after <= svc_now())))
      order by tenant_id, repo_id, issue_number, lane, id
    ) head
    where status = 'pending' and client_type = ${p('clientType')} and (retry_after is null or retry_after <= svc_now())
    order by row_number() over (partition by tenant_id, repo_id order by id), id
    limit ${p('limit')}`,
);

/** A merge that was postponed without an error, and not sent since. */
const waitsForChecks = sql<boolean>`action ->> 'type' = 'mergePR' and status = 'pending'
  and retry_after is not null and error is null and attempt_started_at is null`;

const anyOpen = prepared(
  'any-open-projection',
  (
    _db,
    p: Params<{
      tenantId: number;
      repoId: number;
      number: number;
      statuses: readonly string[];
      lanes: readonly string[];
    }>,
  ) => sql<{ id: number }>`
    select id from projections
    where tenant_id = ${p('tenantId')} and repo_id = ${p('repoId')} and issue_number = ${p('number')}
      and status in ('pending', 'failed') and status = any(${p('statuses')}::text[]) and lane = any(${p('lanes')}::text[])
      and not (${waitsForChecks})
    limit 1`,
);

/**
 * True while the host does not show the wanted state of this issue, because an entry is pending or failed. A merge that
 * waits for checks does not count: nothing of it is on its way to the host. Reads the open entries of the issue (index
 * projections_open). @param lanes of these lanes only.
 */
export async function hasOpenProjections(
  tx: Tx,
  issue: IssueKey,
  statuses: readonly ('pending' | 'failed')[],
  lanes: readonly Lane[] = LANES,
): Promise<boolean> {
  const { tenant_id: tenantId, repo_id: repoId, issue_number: number } = issue;
  return (await anyOpen.first(tx, { tenantId, repoId, number, statuses, lanes })) !== undefined;
}

/**
 * Returns whether an entry of this type is pending for the issue. Reads the open entries of the issue (index
 * projections_open).
 */
export async function isProjectionPending(tx: Tx, issue: IssueKey, type: ProjectionAction['type']): Promise<boolean> {
  const row = await tx
    .selectFrom('projections')
    .select('id')
    .where('tenant_id', '=', issue.tenant_id)
    .where('repo_id', '=', issue.repo_id)
    .where('issue_number', '=', issue.issue_number)
    .where('status', '=', 'pending')
    .where(sql<string>`action ->> 'type'`, '=', type)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
