import { ENQUEUE_LABEL, laneOf, MAX_PROJECTION_ATTEMPTS, type ProjectionAction } from '@pipeline/domain';
import { sql } from 'kysely';
import { svcNow } from '../driver/clock.ts';
import type { Db, Tx } from '../driver/database.ts';
import { jsonb } from '../driver/fragments.ts';
import type { RepoRow } from '../repos/repos.ts';

const ENQUEUE: ProjectionAction = { type: 'addLabels', labels: [ENQUEUE_LABEL] };
const KEY = 'enqueue-orphan';

/**
 * The issues among these host issues that have neither a record nor an intake request; a pending or complete request
 * counts as handled. Two index probes per number.
 */
export async function unknownIssues(
  db: Db,
  tenantId: number,
  repoId: number,
  numbers: readonly number[],
): Promise<number[]> {
  const { rows } = await sql<{ number: number }>`
    select n.number
    from unnest(${numbers}::integer[]) n (number)
    where not exists (
      select from issues i where i.tenant_id = ${tenantId} and i.repo_id = ${repoId} and i.issue_number = n.number)
      and not exists (
        select from projections p
        where p.tenant_id = ${tenantId} and p.status in ('pending', 'complete')
          and p.idempotency_key = ${`${KEY}/${repoId}#`} || n.number)
    order by n.number`.execute(db);
  return rows.map((row) => row.number);
}

/**
 * Requests, through the outbox, that the host marks an issue for intake. One request per issue: a failed or discarded
 * one is sent again, a pending or complete one stays as it is, also with concurrent calls.
 * @returns whether this call created or reset the request.
 */
export async function requestIntake(tx: Tx, repo: RepoRow, issueNumber: number): Promise<boolean> {
  const key = `${KEY}/${repo.id}#${issueNumber}`;
  const made = await tx
    .insertInto('projections')
    .values({
      tenant_id: repo.tenant_id,
      repo_id: repo.id,
      issue_id: null,
      issue_number: issueNumber,
      lane: laneOf(ENQUEUE),
      action: jsonb(ENQUEUE),
      max_attempts: MAX_PROJECTION_ATTEMPTS,
      client_type: repo.vcs_host,
      idempotency_key: key,
    })
    .onConflict((c) => c.columns(['tenant_id', 'idempotency_key']).doNothing())
    .returning('id')
    .executeTakeFirst();
  return made !== undefined || askAgain(tx, repo.tenant_id, key);
}

async function askAgain(tx: Tx, tenantId: number, key: string): Promise<boolean> {
  const row = await tx
    .updateTable('projections')
    .set({ status: 'pending', attempts: 0, retry_after: null, error: null, updated_at: svcNow })
    .where('tenant_id', '=', tenantId)
    .where('idempotency_key', '=', key)
    .where('status', 'in', ['failed', 'discarded'])
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}
