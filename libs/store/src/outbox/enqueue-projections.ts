import type { ProjectionAction } from '@pipeline/domain';
import { laneOf, MAX_PROJECTION_ATTEMPTS } from '@pipeline/domain';
import { sql } from 'kysely';
import type { Tx } from '../driver/database.ts';
import { type Params, prepared } from '../driver/prepared.ts';
import type { IssueKey } from './open-projections.ts';

interface NewProjection {
  repoId: number;
  issueId: number | null;
  issueNumber: number;
  clientType: string;
  action: ProjectionAction;
  /** Makes a second insert of the same host write a no-op. */
  idempotencyKey: string;
}

interface Insertion {
  tenantId: number;
  items: string;
  maxAttempts: number;
}

const insert = prepared(
  'insert-projections',
  (_db, p: Params<Insertion>) => sql`
    with items as (
      select "repoId", "issueId", "issueNumber", lane, action, "clientType", "idempotencyKey"
      from jsonb_to_recordset(${p('items')}::jsonb) as i ("repoId" bigint, "issueId" bigint, "issueNumber" integer,
        lane text, action jsonb, "clientType" text, "idempotencyKey" text)
    ), comment as (
      select "repoId", "issueNumber", action from items where action ->> 'type' = 'updateComment' limit 1
    ), rewritten as (
      update projections set action = (select action from comment), updated_at = svc_now()
      where tenant_id = ${p('tenantId')} and repo_id = (select "repoId" from comment)
        and issue_number = (select "issueNumber" from comment) and lane = 'talk' and status = 'pending'
        and attempt_started_at is null and action ->> 'type' = 'updateComment'
      returning id
    )
    insert into projections (tenant_id, repo_id, issue_id, issue_number, lane, action, max_attempts, client_type,
      idempotency_key)
    select ${p('tenantId')}, i."repoId", i."issueId", i."issueNumber", i.lane, i.action, ${p('maxAttempts')},
      i."clientType", i."idempotencyKey"
    from items i
    where i.action ->> 'type' <> 'updateComment' or not exists (select id from rewritten)
    on conflict (tenant_id, idempotency_key) do nothing`,
);

/**
 * Appends host writes to the outbox in order. All entries must belong to one issue if one is a status comment. A
 * pending status comment is rewritten instead, so that a busy issue costs one write and not one per step. One
 * statement; it reads the open entries of the issue (index projections_open).
 */
export async function insertProjections(tx: Tx, tenantId: number, items: readonly NewProjection[]): Promise<void> {
  if (items.length === 0) return;
  const rows = items.map((item) => ({ ...item, lane: laneOf(item.action) }));
  await insert.run(tx, { tenantId, items: JSON.stringify(rows), maxAttempts: MAX_PROJECTION_ATTEMPTS });
}

interface Withdrawal {
  tenantId: number;
  repoId: number;
  number: number;
  types: string[];
}

const withdraw = prepared(
  'withdraw-projections',
  (_db, p: Params<Withdrawal>) => sql`
    update projections set status = 'discarded', retry_after = null, error = 'superseded', updated_at = svc_now()
    where tenant_id = ${p('tenantId')} and repo_id = ${p('repoId')} and issue_number = ${p('number')}
      and (status = 'failed' or (status = 'pending' and attempt_started_at is null))
      and action ->> 'type' = any(${p('types')}::text[])`,
);

/** A host write that a later change can make unwanted. */
export type OutdatedAction = Exclude<ProjectionAction['type'], 'updateComment'>;

/**
 * Discards outdated entries of the issue: pending ones, and failed ones, which would block the following ones. One that
 * may be on its way to the host is left unchanged.
 */
export async function withdrawProjections(tx: Tx, issue: IssueKey, types: readonly OutdatedAction[]): Promise<void> {
  const { tenant_id: tenantId, repo_id: repoId, issue_number: number } = issue;
  await withdraw.run(tx, { tenantId, repoId, number, types: [...types] });
}
