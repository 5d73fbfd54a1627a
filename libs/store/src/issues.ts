import type { HostIssue } from '@pipeline/domain';
import { type Insertable, type Selectable, sql } from 'kysely';
import type { Db, Tx } from './connection.ts';
import type { Issues } from './database.generated.ts';
import { type Change, svcNow } from './json.ts';

/** An issue as it is locked: its row and how long it has been in its state, by the store's clock. */
export type IssueRow = Selectable<Issues> & { ms_in_state: number };

const msInState = sql<number>`(extract(epoch from (svc_now() - state_entered_at)) * 1000)::bigint`.as('ms_in_state');

/**
 * Locks the row of an issue until the transaction ends. It is the first lock every use case takes, so that all that
 * change one issue wait for each other and no two can wait in a circle.
 */
export const lockIssue = (tx: Tx, tenantId: number, issueId: number): Promise<IssueRow | undefined> =>
  tx
    .selectFrom('issues')
    .selectAll()
    .select(msInState)
    .where('tenant_id', '=', tenantId)
    .where('id', '=', issueId)
    .forUpdate()
    .executeTakeFirst();

export const lockIssueByNumber = (
  tx: Tx,
  tenantId: number,
  repoId: number,
  number: number,
): Promise<IssueRow | undefined> =>
  tx
    .selectFrom('issues')
    .selectAll()
    .select(msInState)
    .where('tenant_id', '=', tenantId)
    .where('repo_id', '=', repoId)
    .where('issue_number', '=', number)
    .forUpdate()
    .executeTakeFirst();

export const findIssue = (
  db: Db,
  tenantId: number,
  repoId: number,
  number: number,
): Promise<Selectable<Issues> | undefined> =>
  db
    .selectFrom('issues')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('repo_id', '=', repoId)
    .where('issue_number', '=', number)
    .executeTakeFirst();

export type NewIssue = Pick<
  HostIssue,
  'number' | 'title' | 'body' | 'url' | 'labels' | 'author' | 'createdAt' | 'updatedAt'
>;

/** Brings an issue into the pipeline in state `new`. @returns false when it was there already. */
export async function insertIssue(tx: Tx, tenantId: number, repoId: number, issue: NewIssue): Promise<boolean> {
  const row: Insertable<Issues> = {
    tenant_id: tenantId,
    repo_id: repoId,
    issue_number: issue.number,
    title: issue.title,
    body: issue.body,
    url: issue.url,
    author: issue.author,
    labels: issue.labels,
    state: 'new',
    host_created_at: issue.createdAt,
    host_updated_at: issue.updatedAt,
  };
  const made = await tx
    .insertInto('issues')
    .values(row)
    .onConflict((c) => c.columns(['tenant_id', 'repo_id', 'issue_number']).doNothing())
    .returning('id')
    .executeTakeFirst();
  return made !== undefined;
}

/** Changes columns of an issue whose row the caller has locked. */
export async function updateIssue(tx: Tx, tenantId: number, issueId: number, change: Change<'issues'>): Promise<void> {
  await tx
    .updateTable('issues')
    .set({ ...change, updated_at: svcNow })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', issueId)
    .execute();
}

/** Moves a locked issue into a state: the clock of the state starts anew. */
export const enterState = (tx: Tx, tenantId: number, issueId: number, change: Change<'issues'>): Promise<void> =>
  updateIssue(tx, tenantId, issueId, { ...change, state_entered_at: svcNow, last_event_at: svcNow });

export const issueById = (db: Db, tenantId: number, issueId: number): Promise<Selectable<Issues> | undefined> =>
  db.selectFrom('issues').selectAll().where('tenant_id', '=', tenantId).where('id', '=', issueId).executeTakeFirst();

export const setPaused = (tx: Tx, tenantId: number, issueId: number, isPaused: boolean): Promise<void> =>
  updateIssue(tx, tenantId, issueId, { is_paused: isPaused, paused_at: isPaused ? svcNow : null });
